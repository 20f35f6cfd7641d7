/** The logarithm of the gamma function and its first two derivatives, for positive numbers: what densities of the beta distribution are made of. */

/** Below this the recurrence lifts the argument: the series is exact to rounding from here on. */
const large = 10;
/** Coefficients of Stirling's series, by odd powers of 1 / x. */
const stirling = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360];

export function logGamma(x: number): number {
  if (!(x > 0)) return Number.NaN;
  let [at, lifted] = [x, 0];
  for (; at < large; at++) lifted += Math.log(at);
  let [series, power] = [0, 1 / at];
  for (const coefficient of stirling) {
    series += coefficient * power;
    power /= at * at;
  }
  return (at - 0.5) * Math.log(at) - at + Math.log(2 * Math.PI) / 2 + series - lifted;
}

export function digamma(x: number): number {
  if (!(x > 0)) return Number.NaN;
  let [at, lifted] = [x, 0];
  for (; at < large; at++) lifted += 1 / at;
  let [series, power] = [0, 1 / (at * at)];
  for (const [k, coefficient] of stirling.entries()) {
    series -= (2 * k + 1) * coefficient * power;
    power /= at * at;
  }
  return Math.log(at) - 1 / (2 * at) + series - lifted;
}

export function trigamma(x: number): number {
  if (!(x > 0)) return Number.NaN;
  let [at, lifted] = [x, 0];
  for (; at < large; at++) lifted += 1 / (at * at);
  let [series, power] = [0, 1 / at ** 3];
  for (const [k, coefficient] of stirling.entries()) {
    series += (2 * k + 1) * (2 * k + 2) * coefficient * power;
    power /= at * at;
  }
  return 1 / at + 1 / (2 * at * at) + series + lifted;
}
