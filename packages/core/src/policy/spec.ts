/**
 * The compiled form of policies, affinities and resource requests: plain JSON, as stored in a workflow version.
 * Shapes and names are those of the reference (`docs/policy-language.md`); evaluators never trust a stored spec and
 * check what they read.
 */

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A value taken from the execution when it is dispatched. */
export type InputReference = { $input: string } | { $routing_input: string };
export type ComparisonValue = string | number | boolean | InputReference;

/** `label:<key>`, `metric:<key>`, `meta:<key>`, `resource:<field>`, `load` or `utilization`. */
export type StaticSelector = string;

/** A label or metadata key completed by an input: `prefix` + the value found at `input` or `routing_input`. */
export type DynamicSelector =
  | { kind: 'label' | 'meta'; prefix: string; input: string }
  | { kind: 'label' | 'meta'; prefix: string; routing_input: string };

export type Selector = StaticSelector | DynamicSelector;

export type InputCondition =
  | { input: string; op: '==' | '!='; value: string | number | boolean | null }
  | { routing_input: string; op: '==' | '!='; value: string | number | boolean | null };
export type WorkerCondition = { selector: StaticSelector; op: ComparisonOperator; value: string | number | boolean };
export type Condition = InputCondition | WorkerCondition;

export type PreferTerm = {
  kind: 'prefer';
  selector: Selector;
  op: ComparisonOperator;
  value: ComparisonValue;
  weight: number;
};
export type ExtremeTerm = { kind: 'least' | 'most'; selector: StaticSelector; weight: number };
export type StickyTerm = { kind: 'sticky'; weight: number };
export type PlainScoreTerm = PreferTerm | ExtremeTerm | StickyTerm;
export type ScoreTerm = PlainScoreTerm | { kind: 'when'; if: Condition; then: PlainScoreTerm };

/** `score(...)`. */
export type PolicySpec = { terms: ScoreTerm[] };

export type MatchTerm = {
  kind: 'match';
  selector: Selector;
  op: ComparisonOperator;
  value: ComparisonValue;
  optional?: true;
};
export type RequireTerm = MatchTerm | { kind: 'when'; if: Condition; then: MatchTerm };

/** `require(...)`, or the static form: label → value. */
export type AffinitySpec = RequireTerm[] | { [label: string]: string };

/** `ResourceRequest(...)`. Memory is a byte count or a text such as `8Gi`. */
export type RequestsSpec = {
  cpu?: number;
  memory?: number | string;
  disk?: number;
  gpu?: number;
  packages?: string[];
};

/** Which of the three a text is. */
export type PolicyStage = 'ROUTING' | 'AFFINITY' | 'REQUESTS';
