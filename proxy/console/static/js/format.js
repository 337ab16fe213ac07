// Numbers and times as people read them.

// count shortens large numbers: 12.3k, 4.56M.
export function count(n) {
  if (n === null || n === undefined) return "";
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e4]]) {
    if (Math.abs(n) >= size) return significant(n / (unit === "k" ? 1e3 : size)) + unit;
  }
  return Number.isInteger(n) ? String(n) : significant(n);
}

// bytes are in powers of 1024.
export function bytes(n) {
  for (const [unit, size] of [["G", 2 ** 30], ["M", 2 ** 20], ["K", 2 ** 10]]) if (n >= size) return significant(n / size) + unit;
  return String(Math.round(n));
}

// millis is a time given in milliseconds.
export function millis(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms === 0) return "0";
  if (ms < 1) return significant(ms * 1000) + " µs";
  if (ms < 1000) return significant(ms) + " ms";
  return seconds(ms / 1000);
}

// seconds is a span such as 3m 20s.
export function seconds(s) {
  if (s < 60) return significant(s) + " s";
  const whole = Math.floor(s);
  if (whole < 3600) return Math.floor(whole / 60) + "m " + (whole % 60) + "s";
  if (whole < 86400) return Math.floor(whole / 3600) + "h " + Math.floor((whole % 3600) / 60) + "m";
  return Math.floor(whole / 86400) + "d " + Math.floor((whole % 86400) / 3600) + "h";
}

// significant has three digits that matter.
export function significant(n) {
  if (n === 0) return "0";
  const size = Math.abs(n);
  return n.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

// clock is the time of day of "2006-01-02 15:04:05.000".
export const clock = (at) => at.slice(11, 19);
