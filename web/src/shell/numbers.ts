// Numbers as people read them.

export function big(value: number): string {
  if (value < 10_000) return Math.round(value).toString();
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e5 ? 1 : 0)} k`;
  if (value < 1e9) return `${(value / 1e6).toFixed(1)} M`;
  return `${(value / 1e9).toFixed(1)} G`;
}

export function perSecond(rate: number): string {
  return `${rate > 0 && rate < 10 ? rate.toFixed(1) : big(rate)}/s`;
}

export function duration(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${(ms / 60_000).toFixed(1)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}

export function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(fraction > 0.995 && fraction < 1 ? 2 : 0)} %`;
}

/** What a tuple costs, in microseconds or longer. */
export function cost(us: number): string {
  return us < 1000 ? `${us.toFixed(us < 10 ? 2 : 1)} µs` : duration(us / 1000);
}
