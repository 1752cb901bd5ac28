/** "3/4" and a bar: one block per slot up to 8, continuous above, amber when full. No capacity: no limit. */
export function LoadBar({ load, capacity }: { load: number; capacity: number | null | undefined }) {
  if (capacity == null) {
    return (
      <span className="load">
        <span className="num">{load}</span>
        <span className="nolim">no limit</span>
      </span>
    );
  }
  const full = load >= capacity;
  return (
    <span className="load">
      <span className="num">
        {load}
        <i>/{capacity}</i>
      </span>
      <span className="lbar" aria-hidden>
        {capacity <= 8 ? (
          Array.from({ length: capacity }, (_, slot) => (
            // Slots have no identity but their place.
            // oxlint-disable-next-line react/no-array-index-key
            <b key={slot} className={slot < load ? `on${full ? ' full' : ''}` : ''} />
          ))
        ) : (
          <b className="track">
            <u className={full ? 'full' : ''} style={{ width: `${Math.min(1, load / capacity) * 100}%` }} />
          </b>
        )}
      </span>
    </span>
  );
}
