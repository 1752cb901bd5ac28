import { builder } from '../../graphql/builder.ts';
import { connectionOf, connectionType, pageOf } from '../../graphql/connection.ts';
import { ExecutionRef } from '../../graphql/refs.ts';
import { StepKind } from '../worker/worker-steps.graphql.ts';
import { ExecutionErrorType } from './execution.graphql.ts';
import type { StepRow } from './step-reader.ts';

const ExecutionStepRef = builder.objectRef<StepRow>('ExecutionStep');
ExecutionStepRef.implement({
  description:
    'What a handler did that is not done again (TASK, NOW, RANDOM), or waits for while it is open (TIMER, RESUME, CALL).',
  fields: (t) => ({
    position: t.exposeInt('position', { description: 'From 0, in the order of the calls of the handler.' }),
    kind: t.expose('kind', { type: StepKind }),
    name: t.exposeString('name'),
    done: t.exposeBoolean('done'),
    result: t.expose('result', { type: 'JSON', nullable: true }),
    error: t.expose('error', { type: ExecutionErrorType, nullable: true }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was last written.' }),
    wakeAt: t.expose('wakeAt', { type: 'DateTime', nullable: true, description: 'Of an open TIMER.' }),
    child: t.field({
      type: ExecutionRef,
      nullable: true,
      description: 'Of a CALL; null: it ran in process, or retention took it.',
      resolve: ({ child }, _args, { loaders }) => (child === null ? null : loaders.execution.load(child)),
    }),
  }),
});
const ExecutionStepConnection = connectionType('ExecutionStep', ExecutionStepRef);

builder.objectField(ExecutionRef, 'steps', (t) =>
  t.field({
    type: ExecutionStepConnection,
    description: 'What its durable calls have recorded, in the order of positions.',
    args: { first: t.arg.int(), after: t.arg.string() },
    resolve: async (x, args, context) => {
      const reader = context.services.stepReader;
      const page = pageOf(args, 'steps', ['int'], context);
      const rows = await reader.page(x.id, Number(page.after?.[0] ?? -1), page.limit + 1);
      return connectionOf(
        page,
        'steps',
        rows.slice(0, page.limit),
        rows.length > page.limit,
        (step) => [step.position],
        () => reader.count(x.id),
      );
    },
  }),
);
