// What the page of scoring.e2e.ts loads: packages/core as a browser gets it.
import { answer } from '../../packages/core/conformance/answer.ts';

Object.assign(globalThis, { answerVector: answer });
