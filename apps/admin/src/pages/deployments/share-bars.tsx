import { percent, plural } from '../../format.ts';
import { Panel } from '../../ui/layout.tsx';
import type { Share } from './shares.ts';

export interface SharedVariant {
  key: string;
  label: string;
  share: Share;
  /** null: nothing ran in the window, or the variant is new. */
  observed: number | null;
}

/** "9.1 % → 0 % → 8.6 %". */
export function ShareFlow({ share, observed }: { share: Share; observed: number | null }) {
  return (
    <span className="flow">
      {percent(share.configured)}
      <span className="ar" aria-label="effective">
        →
      </span>
      <span className={share.effective === 0 && share.configured > 0 ? 'z' : undefined}>
        {percent(share.effective)}
      </span>
      <span className="ar" aria-label="observed">
        →
      </span>
      {observed === null ? <span className="mute">–</span> : percent(observed)}
    </span>
  );
}

/** Three thin lines: outline, solid accent, solid ink. */
export function ShareLines({ share, observed }: { share: Share; observed: number | null }) {
  const width = (value: number) => ({ width: `${value * 100}%`, ...(value === 0 && { minWidth: 0 }) });
  return (
    <div
      className="v3"
      role="img"
      aria-label={`configured ${percent(share.configured)}, effective ${percent(share.effective)}, observed ${observed === null ? 'nothing' : percent(observed)}`}
    >
      <span className="c">
        <u style={width(share.configured)} />
      </span>
      <span className="e">
        <u style={width(share.effective)} />
      </span>
      <span className="o">
        <u style={width(observed ?? 0)} />
      </span>
    </div>
  );
}

/** Configured (a wish), effective (in force), observed (what happened), on one scale. */
export function SharePanel({
  variants,
  observedCount,
}: {
  variants: readonly SharedVariant[];
  observedCount: number | null;
}) {
  const text = (variant: SharedVariant, value: number): string => `${variant.label} ${percent(value)}`;
  // A narrow segment has room for the number alone; its title says the rest.
  const short = (variant: SharedVariant, value: number): string =>
    value < 0.08 ? percent(value) : text(variant, value);
  const seen = variants.filter((variant) => (variant.observed ?? 0) > 0);
  return (
    <Panel
      title="Share of new sessions"
      className="mb"
      aside={observedCount === null ? null : `Observed: ${plural(observedCount, 'execution')}, last 60 m`}
    >
      <dl className="split">
        <dt>Configured</dt>
        <dd>
          {variants
            .filter((variant) => variant.share.configured > 0)
            .map((variant) => (
              <span
                key={variant.key}
                className={`seg cfg${variant.share.dead ? ' dead' : ''}`}
                style={{ flex: variant.share.configured }}
                title={text(variant, variant.share.configured)}
              >
                <span>{short(variant, variant.share.configured)}</span>
              </span>
            ))}
        </dd>
        <dt>Effective</dt>
        <dd>
          {variants
            .filter((variant) => variant.share.configured > 0)
            .map((variant) =>
              variant.share.effective === 0 ? (
                <span key={variant.key} className="seg z" title={`${variant.label} 0 %`} />
              ) : (
                <span
                  key={variant.key}
                  className="seg eff"
                  style={{ flex: variant.share.effective }}
                  title={text(variant, variant.share.effective)}
                >
                  <span>{short(variant, variant.share.effective)}</span>
                </span>
              ),
            )}
        </dd>
        {observedCount !== null && (
          <>
            <dt>Observed</dt>
            <dd>
              {seen.length === 0 ? (
                <span className="mute">no executions in 60 m</span>
              ) : (
                seen.map((variant) => (
                  <span
                    key={variant.key}
                    className="seg obs"
                    style={{ flex: variant.observed ?? 0 }}
                    title={text(variant, variant.observed ?? 0)}
                  >
                    <span>{short(variant, variant.observed ?? 0)}</span>
                  </span>
                ))
              )}
            </dd>
          </>
        )}
      </dl>
    </Panel>
  );
}
