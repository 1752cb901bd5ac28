const CELLS = [0, 1, 2].flatMap((y) => [0, 1, 2].map((x) => ({ x, y })));

export function Brand() {
  return (
    <div className="brand">
      <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden>
        {CELLS.map(({ x, y }) => (
          <rect
            key={`${x}${y}`}
            x={x * 6.5}
            y={y * 6.5}
            width="5"
            height="5"
            rx="1.25"
            className={x === 1 && y === 1 ? 'on' : 'off'}
          />
        ))}
      </svg>
      Muster
    </div>
  );
}
