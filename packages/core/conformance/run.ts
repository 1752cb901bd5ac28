// Answers vector files: `run.ts [FILE.jsonl…]`, without files all required ones. Exit 1 on any failure.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { VECTOR_KINDS, type Vector, answer, kindOfFile } from './answer.ts';

const SHOWN_FAILURES = 20;
const VECTORS = path.join(path.dirname(fileURLToPath(import.meta.url)), 'vectors');

const given = process.argv.slice(2).map((file) => path.resolve(process.env['INIT_CWD'] ?? process.cwd(), file));
const files = given.length > 0 ? given : VECTOR_KINDS.map((kind) => path.join(VECTORS, `${kind}.jsonl`));
process.exitCode = run(files);

function run(paths: readonly string[]): number {
  let passed = 0;
  let failed = 0;
  const fail = (file: string, line: number, id: string, reason: string): void => {
    failed += 1;
    if (failed <= SHOWN_FAILURES) write(`FAILED ${path.basename(file)}:${line} ${id}: ${reason.slice(0, 500)}`);
  };
  for (const file of paths) {
    const kind = kindOfFile(file);
    if (kind === null) {
      fail(file, 0, '', `the name of a vector file starts with one of ${VECTOR_KINDS.join(', ')}`);
      continue;
    }
    for (const [index, line] of linesOf(file).entries()) {
      if (line.trim() === '') continue;
      let id = '';
      try {
        const vector: Vector = JSON.parse(line);
        id = vector.id;
        const { ok, reason } = answer(kind, vector);
        if (ok) passed += 1;
        else fail(file, index + 1, id, `expected ${JSON.stringify(vector.expected)}, ${reason ?? ''}`);
      } catch (error) {
        fail(file, index + 1, id, `threw ${String(error)}`);
      }
    }
  }
  if (failed > SHOWN_FAILURES) write(`… and ${failed - SHOWN_FAILURES} more`);
  write(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    write(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(2);
  }
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
