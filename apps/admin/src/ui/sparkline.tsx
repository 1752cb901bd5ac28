import { metricValue } from '../format.ts';

/** A line of what was seen, without axes. The name says min, max and last, which is all that it shows. */
export function Sparkline({
  values,
  label,
  width = 180,
  height = 22,
  tone = 'ink',
}: {
  values: readonly number[];
  label: string;
  width?: number;
  height?: number;
  tone?: 'ink' | 'warn' | 'stale';
}) {
  const last = values.at(-1);
  if (last === undefined) return <svg className="spark" width={width} height={height} aria-hidden />;
  const min = Math.min(...values);
  const max = Math.max(...values);
  const range = max - min || 1;
  const points = values.map((value, i) => {
    const x = values.length === 1 ? width - 2 : (i / (values.length - 1)) * (width - 4) + 2;
    const y = max === min ? height / 2 : height - 3 - ((value - min) / range) * (height - 6);
    return [x, y] as const;
  });
  const path = `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`;
  const [endX, endY] = points.at(-1) ?? [0, 0];
  return (
    <svg
      className={`spark ${tone}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: min ${metricValue(min)}, max ${metricValue(max)}, last ${metricValue(last)}`}
    >
      {values.length > 1 && tone !== 'stale' && (
        <path className="sp-a" d={`${path}L${width - 2} ${height}L2 ${height}Z`} />
      )}
      <path className="sp-l" d={path} vectorEffect="non-scaling-stroke" />
      <path className="sp-d" d={`M${endX} ${endY}h.01`} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
