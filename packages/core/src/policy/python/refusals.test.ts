import { describe, expect, test } from 'vitest';
import { readPythonWorkflows } from './read-workflows.ts';

/** Problems as `line:column CODE`. */
function problems(text: string): string[] {
  const file = readPythonWorkflows(text);
  return file.ok ? [] : file.problems.map(({ line, column, code }) => `${line}:${column} ${code}`);
}

const decorated = (options: string, head = 'from flux import workflow'): string =>
  `${head}\n@workflow.with_options(${options})\nasync def f(ctx): pass\n`;

describe('options that cannot be read', () => {
  test.each([
    ['name=NAME', '2:29 OPTION_NOT_LITERAL'],
    ['name=f"x{1}"', '2:29 OPTION_NOT_LITERAL'],
    ['name="a" + "b"', '2:29 OPTION_NOT_LITERAL'],
    ['name=b"x"', '2:29 OPTION_NOT_LITERAL'],
    ['name=5', '2:29 OPTION_NOT_LITERAL'],
    ['name="two words"', '2:29 NAME_SHAPE'],
    ['name=""', '2:29 NAME_SHAPE'],
    [`name="${'x'.repeat(65)}"`, '2:29 NAME_TOO_LONG'],
    ['namespace="a/b"', '2:34 NAME_SHAPE'],
    ['runner=Runner.SUBPROCESS', '2:31 OPTION_NOT_LITERAL'],
    ['max_attempts=0', '2:37 OPTION_OUT_OF_RANGE'],
    ['max_attempts=1.5', '2:37 OPTION_OUT_OF_RANGE'],
    ['max_attempts="3"', '2:37 OPTION_NOT_LITERAL'],
    ['timeout_seconds=60 * 60', '2:40 OPTION_NOT_LITERAL'],
    ['"train"', '2:24 OPTION_NOT_NAMED'],
    ['**options', '2:24 OPTION_NOT_NAMED'],
    ['*options', '2:24 OPTION_NOT_NAMED'],
    ['x for x in y', '2:24 OPTION_NOT_NAMED'],
    ['name="a", name="b"', '2:34 OPTION_REPEATED'],
    ['schedule=cron("0 * * * *")', '2:24 OPTION_UNKNOWN'],
    ['routing=POLICY', '2:32 NOT_A_POLICY'],
    ['routing=score(*TERMS)', '2:38 UNKNOWN_TERM'],
    ['routing=score(least(load()), weight=2)', '2:53 KEYWORD_UNKNOWN'],
    ['routing=score(prefer(label(KEY) == "x"))', '2:51 ARGUMENT_NOT_TEXT'],
    ['routing=score(least(load()), prefer(load() < LIMIT))', '2:69 VALUE_INVALID'],
    ['routing=score(least(load())) if EU else None', '2:32 NOT_A_POLICY'],
    ['routing=mine.score(least(load()))', '2:32 NOT_A_POLICY'],
    ['affinity=labels()', '2:33 NOT_AN_AFFINITY'],
    ['affinity={"region": REGION}', '2:44 MAP_VALUE_INVALID'],
    ['affinity={**base}', '2:34 MAP_KEY_INVALID'],
    ['requests=ResourceRequest(cpu=CORES)', '2:53 AMOUNT_INVALID'],
    ['requests={"cpu": 2}', '2:33 NOT_REQUESTS'],
  ])('%s', (options, problem) => {
    expect(problems(decorated(options))).toEqual([problem]);
  });

  test('all of them at once, over several workflows', () => {
    const text = `${decorated('name=NAME,\n    routing=score(least(LOAD))')}${decorated('runner=1', '')}`;
    expect(problems(text)).toEqual(['2:29 OPTION_NOT_LITERAL', '3:25 SELECTOR_MISSING', '6:31 OPTION_NOT_LITERAL']);
  });

  test('columns count from behind a byte order mark, lines by every line end', () => {
    expect(problems('\uFEFF@workflow.with_options(name=X)\rdef f(c): pass')).toEqual(['1:29 OPTION_NOT_LITERAL']);
    expect(problems(decorated('\r\n\r\n  name=X'))).toEqual(['4:8 OPTION_NOT_LITERAL']);
  });
});

describe('names that cannot be followed', () => {
  test.each([
    ['def score(*terms): ...', '2:32 NAME_REDEFINED'],
    ['from flux.routing import score\nif eu:\n    score = other', '4:32 NAME_REDEFINED'],
    ['for score, x in pairs: pass', '2:32 NAME_REDEFINED'],
    ['from flux.routing import score\nfrom mine import rank as score', '3:32 NAME_REDEFINED'],
    ['from mine import rank as score', '2:32 NOT_A_POLICY'],
    ['import mine.routing as score', '2:32 NOT_A_POLICY'],
  ])('%s', (head, problem) => {
    expect(problems(decorated('routing=score(least(load()))', head))).toEqual([problem]);
  });

  test('a local name of the same spelling changes nothing', () => {
    const head = 'def g():\n    score = 1\n    return [least for least in score]\nclass C:\n    load = 1';
    expect(problems(decorated('routing=score(least(load()))', head))).toEqual([]);
  });
});

describe('declarations that cannot be read', () => {
  test.each([
    ['def g():\n    @workflow\n    def f(ctx): pass', '2:5 WORKFLOW_NESTED'],
    ['class C:\n    @workflow\n    def f(self, ctx): pass', '2:5 WORKFLOW_NESTED'],
    ['if EU:\n    @workflow\n    def f(ctx): pass', '2:5 WORKFLOW_NESTED'],
    ['try:\n    @workflow\n    def f(ctx): pass\nfinally: pass', '2:5 WORKFLOW_NESTED'],
    ['@workflow\nclass C: pass', '1:1 WORKFLOW_NOT_FUNCTION'],
    ['@workflow\n@workflow\ndef f(ctx): pass', '2:1 WORKFLOW_TWICE'],
    ['@workflow\n@workflow.with_options(name="x")\ndef f(ctx): pass', '2:1 WORKFLOW_TWICE'],
    ['@workflow\ndef f(ctx): pass\n@workflow\ndef f(ctx): pass', '3:1 WORKFLOW_DUPLICATE'],
    ['@workflow\ndef f(ctx): pass\n@workflow.with_options(name="f")\ndef g(ctx): pass', '3:1 WORKFLOW_DUPLICATE'],
    ['@workflow()\ndef f(ctx): pass', '1:1 WORKFLOW_FORM'],
    ['@workflow.with_options\ndef f(ctx): pass', '1:1 WORKFLOW_FORM'],
    ['from flux import workflow\n@workflow.options(name="x")\ndef f(ctx): pass', '2:1 WORKFLOW_FORM'],
    ['@app.workflow.with_options(name="x")\ndef f(ctx): pass', '1:1 WORKFLOW_FORM'],
    ['@(workflow)\ndef f(ctx): pass', '1:1 WORKFLOW_FORM'],
    ['@workflow.with_options(name="x")(later)\ndef f(ctx): pass', '1:1 WORKFLOW_FORM'],
    ['x = workflow.with_options(name="x")(f)', '1:5 WORKFLOW_FORM'],
    ['from flux import workflow\nx = workflow(f)', '2:5 WORKFLOW_FORM'],
    ['from flux import workflow\nw = workflow\n@w\ndef f(ctx): pass', '2:5 WORKFLOW_FORM'],
    ['def workflow(f): return f\n@workflow\ndef f(ctx): pass', '2:1 NAME_REDEFINED'],
    ['@workflow\ndef _f(ctx): pass', '2:5 NAME_SHAPE'],
    ['@workflow\ndef 训练(ctx): pass', '2:5 NAME_SHAPE'],
    ['def f(ctx): pass', '1:1 WORKFLOWS_MISSING'],
    ['', '1:1 WORKFLOWS_MISSING'],
  ])('%j', (text, problem) => {
    expect(problems(text)).toContain(problem);
  });

  test('a name in full-width letters is the same name', () => {
    expect(problems('@ｗorkflow\n@workflow\ndef f(ctx): pass')).toEqual(['2:1 WORKFLOW_TWICE']);
  });
});

describe('files that are no Python', () => {
  test.each([
    ['# -*- coding: latin-1 -*-\n@workflow\ndef f(ctx): pass\n', '1:15 ENCODING'],
    ['#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\n', '2:25 ENCODING'],
    ['x = "never closed\n', '1:5 STRING_UNTERMINATED'],
    ['x = f"{a\n', '1:5 STRING_UNTERMINATED'],
    ['x = """never\nclosed\n', '1:5 STRING_UNTERMINATED'],
    ['def f(ctx:\n    pass\n', '1:6 BRACKET_UNCLOSED'],
    ['x = (1]\n', '1:7 BRACKET_UNMATCHED'],
    ['x = 1)\n', '1:6 BRACKET_UNMATCHED'],
    ['x = 1 ? 2\n', '1:7 CHARACTER_UNEXPECTED'],
    ['x = \0\n', '1:5 CHARACTER_UNEXPECTED'],
    ['def f(ctx)\n    pass\n', '1:11 SYNTAX'],
    ['@workflow.with_options(name="x" routing=score())\ndef f(ctx): pass\n', '1:33 SYNTAX'],
    ['@workflow\nx = 1\n', '2:1 SYNTAX'],
    [`x = ${'('.repeat(300)}`, '1:205 NESTED_TOO_DEEPLY'],
    [`#${'x'.repeat(1_048_576)}`, '1:1 TEXT_TOO_LONG'],
  ])('%#', (text, problem) => {
    expect(problems(text)).toEqual([problem]);
  });
});
