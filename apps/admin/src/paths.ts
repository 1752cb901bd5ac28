import { queryString } from './url-state.ts';

type Search = Readonly<Record<string, string | undefined>>;

const part = encodeURIComponent;

/** Every address of the app, in one place. */
export const paths = {
  overview: () => '/',
  deployments: (search: Search = {}) => `/deployments${queryString(search)}`,
  deploymentNew: () => '/deployments/new',
  deployment: (slug: string, search: Search = {}) => `/deployments/${part(slug)}${queryString(search)}`,
  workers: (search: Search = {}) => `/workers${queryString(search)}`,
  worker: (name: string, search: Search = {}) => `/workers/${part(name)}${queryString(search)}`,
  executions: (search: Search = {}) => `/executions${queryString(search)}`,
  executionNew: (search: Search = {}) => `/executions/new${queryString(search)}`,
  execution: (id: string) => `/executions/${part(id)}`,
  decision: (id: string, search: Search = {}) => `/decisions/${part(id)}${queryString(search)}`,
  workflows: (search: Search = {}) => `/workflows${queryString(search)}`,
  principals: (search: Search = {}) => `/access/principals${queryString(search)}`,
  accessRoles: (search: Search = {}) => `/access/roles${queryString(search)}`,
  apiTokens: (search: Search = {}) => `/access/tokens${queryString(search)}`,
  joinTokens: (search: Search = {}) => `/access/join-tokens${queryString(search)}`,
  sessions: (search: Search = {}) => `/access/sessions${queryString(search)}`,
  audit: (search: Search = {}) => `/audit${queryString(search)}`,
  /** `ref` is namespace/name. */
  workflow: (ref: string, search: Search = {}) =>
    `/workflows/${ref.split('/').map(part).join('/')}${queryString(search)}`,
};
