/**
 * How fast `decide` is: 1,000 workers × 6 terms with the whole explanation, beside a plain loop over columns that does only
 * the arithmetic of the same policy. `npx tsx bench/decide.ts [workers]`.
 */
import {
  blind,
  compilePlan,
  decide,
  decideTraced,
  type DispatchRequest,
  explain,
  packDecisions,
  prepareFleet,
  type WorkerFacts,
} from '@muster/core';

const WORKERS = Number(process.argv[2] ?? 1000);
const REGIONS = ['eu-west', 'eu-central', 'us-east', 'us-west', 'ap-south'];

/** A generator of its own, so that every run measures the same fleet. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const random = mulberry(7);
const facts: WorkerFacts[] = Array.from({ length: WORKERS }, (_, i) => ({
  name: `w-${i}`,
  instanceId: `i-${i}`,
  role: 'worker',
  status: 'HEALTHY',
  statusReasons: [],
  connected: true,
  availability: 'ACTIVE',
  labels: new Map([
    ['region', REGIONS[Math.floor(random() * REGIONS.length)] ?? ''],
    ['gpu', random() < 0.3 ? 'a100' : 'l4'],
  ]),
  metadata: new Map([['tier', Math.floor(random() * 4)]]),
  metrics: new Map([
    ['queue_depth', Math.floor(random() * 40)],
    ['temp', 30 + random() * 50],
  ]),
  metricsAgeMs: 1200,
  resources: { memory_total: 64e9, memory_available: random() * 64e9 },
  packages: [],
  runners: ['inprocess'],
  workflows: [],
  capacity: 32,
  load: Math.floor(random() * 20),
}));

const plan = compilePlan({
  workflowRef: 'default/chat',
  policy: {
    terms: [
      { kind: 'prefer', selector: 'label:region', op: '==', value: { $input: 'region' }, weight: 10 },
      { kind: 'prefer', selector: 'metric:temp', op: '<', value: 60, weight: 2 },
      { kind: 'least', selector: 'metric:queue_depth', weight: 5 },
      { kind: 'most', selector: 'resource:memory_available', weight: 1 },
      { kind: 'sticky', weight: 3 },
      { kind: 'least', selector: 'load', weight: 1 },
    ],
  },
  affinity: null,
  requests: null,
  runner: 'inprocess',
});

const fleet = prepareFleet(facts);
const requests: DispatchRequest[] = REGIONS.map((region, i) => ({
  input: { region },
  routingInput: null,
  targetRoles: ['worker'],
  requiredWorker: null,
  preferredWorker: `w-${i}`,
  unclaimedBefore: [],
}));
const request = (round: number): DispatchRequest => {
  const next = requests[round % requests.length];
  if (next === undefined) throw new RangeError('no request');
  return next;
};

/** The same policy as arithmetic over columns and nothing else: no filter, no explanation, no degradation. */
const regions = facts.map((f) => REGIONS.indexOf(f.labels.get('region') ?? ''));
const temps = Float64Array.from(facts, (f) => f.metrics.get('temp') ?? Number.NaN);
const depths = Float64Array.from(facts, (f) => f.metrics.get('queue_depth') ?? Number.NaN);
const memory = Float64Array.from(facts, (f) => f.resources?.memory_available ?? Number.NaN);
const loads = Float64Array.from(facts, (f) => f.load);
const totals = new Float64Array(WORKERS);
const regionCodes = Int32Array.from(regions);

function extremes(column: Float64Array): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < WORKERS; i++) {
    const value = column[i] ?? 0;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

function plainLoop(round: number): number {
  const region = round % REGIONS.length;
  for (let i = 0; i < WORKERS; i++) totals[i] = regionCodes[i] === region ? 10 : 0;
  for (let i = 0; i < WORKERS; i++) if ((temps[i] ?? 0) < 60) totals[i] = (totals[i] ?? 0) + 2;
  const [depthLow, depthHigh] = extremes(depths);
  for (let i = 0; i < WORKERS; i++) {
    totals[i] = (totals[i] ?? 0) + (1 - ((depths[i] ?? 0) - depthLow) / (depthHigh - depthLow)) * 5;
  }
  const [memoryLow, memoryHigh] = extremes(memory);
  for (let i = 0; i < WORKERS; i++) {
    totals[i] = (totals[i] ?? 0) + ((memory[i] ?? 0) - memoryLow) / (memoryHigh - memoryLow);
  }
  totals[region] = (totals[region] ?? 0) + 3;
  const [loadLow, loadHigh] = extremes(loads);
  let best = -1;
  for (let i = 0; i < WORKERS; i++) {
    const total = (totals[i] ?? 0) + (1 - ((loads[i] ?? 0) - loadLow) / (loadHigh - loadLow));
    totals[i] = total;
    if (best < 0 || total > (totals[best] ?? 0)) best = i;
  }
  return best;
}

let sink = 0;
function perSecond(work: (round: number) => number, milliseconds: number): number {
  const start = performance.now();
  let rounds = 0;
  while (performance.now() - start < milliseconds) {
    for (let k = 0; k < 20; k++) sink += work(rounds++);
  }
  return (rounds * 1000) / (performance.now() - start);
}

/** Loads move between decisions, as they do in a batch. */
function moveLoad(round: number): void {
  const i = round % WORKERS;
  const load = (fleet.loadOf(i) + 1) % 20;
  fleet.setLoad(i, load);
  loads[i] = load;
}

function measureDecide(round: number): number {
  moveLoad(round);
  return decide(plan, fleet, request(round)).candidates.length;
}
function measurePlain(round: number): number {
  moveLoad(round);
  return plainLoop(round);
}

for (let i = 0; i < 3000; i++) {
  const winner = decide(plan, fleet, request(i)).winner;
  if (winner !== facts[plainLoop(i)]?.name) throw new Error(`decide and the plain loop differ at ${i}`);
}
perSecond(measureDecide, 500);
perSecond(measurePlain, 500);
const ratios: number[] = [];
let decideRate = 0;
let plainRate = 0;
for (let i = 0; i < 5; i++) {
  const a = perSecond(measureDecide, 400);
  const b = perSecond(measurePlain, 400);
  ratios.push(a / b);
  decideRate = Math.max(decideRate, a);
  plainRate = Math.max(plainRate, b);
}
ratios.sort((a, b) => a - b);
const batch = (): number => {
  const traced = Array.from({ length: 200 }, (_, i) => decideTraced(plan, fleet, request(i)));
  const { frames, rows } = packDecisions(traced);
  return JSON.stringify(frames).length / rows.length;
};
const bytes = batch();
const batches = perSecond(() => batch(), 1000);
const explains = perSecond((i) => explain(blind(decide(plan, fleet, request(i)), plan.blinding)).length, 400);
console.log(`${WORKERS} workers × 6 terms`);
console.log(`plain columnar loop      ${Math.round(plainRate).toLocaleString('en')} /s`);
console.log(`decide, 50 kept          ${Math.round(decideRate).toLocaleString('en')} /s`);
console.log(`ratio (median of 5)      ${(ratios[2] ?? 0).toFixed(2)} (target 0.5)`);
console.log(`decide + explain         ${Math.round(explains).toLocaleString('en')} /s`);
console.log(
  `decide + pack + frame    ${Math.round(batches * 200).toLocaleString('en')} /s, ${Math.round(bytes)} bytes of frame per decision before compression`,
);
if (sink === 0) console.log('nothing was measured');
