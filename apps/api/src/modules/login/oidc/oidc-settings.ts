/** How people log in through an identity provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
  /** Separated by spaces; `openid` is among them. */
  readonly scopes: string;
  /** Where the roles of a person stand; a dot leads into an object, as in `realm_access.roles`. */
  readonly rolesClaim: string;
  /** Value of that claim to role. */
  readonly rolesMap: Readonly<Record<string, string>>;
  readonly nameClaim: string;
}
