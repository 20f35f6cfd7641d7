/** `node scripts/evolve.mjs [--months N] [--weights]`: the search by which the city's linear player was tuned. Every setting of the evolution gets the same budget of simulated months and is judged on fresh episodes; `--weights` prints the winner's. */
import { ensureBuilt, ensureInstalled } from './setup.mjs';

ensureInstalled();
ensureBuilt();
const { makeGame, playEpisodes, meanBySeat } = await import('../dist/games/index.js');
const { evolve } = await import('../dist/games/city/evolve.js');
const { linearPlayer } = await import('../dist/games/city/players.js');
const args = process.argv.slice(2);
const given = args.indexOf('--months');
const months = given < 0 ? 1_000_000 : Number(args[given + 1]);
if (!(months >= 1)) {
  console.error('--months takes a number, such as 1000000');
  process.exit(2);
}
const fresh = 1000;
const grid = (members, episodes, sigmas) =>
  members.flatMap((m) => episodes.flatMap((e) => sigmas.map((sigma) => ({ members: m, episodes: e, sigma }))));
const settings = [...grid([12, 24, 48], [4, 8, 16], [0.6]), ...grid([12, 24], [8, 16], [0.15, 0.3, 1.2])];
const game = makeGame('city', {}, 8);
let best;
console.log(
  '| members | episodes each | first step size | generations | IND | EDU |\n| --- | --- | --- | --- | --- | --- |',
);
for (const setting of settings) {
  const { weights, generations } = evolve(game, { seed: 1, months, ...setting });
  const player = linearPlayer(weights);
  const means = meanBySeat(playEpisodes(game, [player, player], fresh, 987_654));
  const cells = means.map(({ mean, halfWidth }) => `${mean.toFixed(3)} +- ${halfWidth.toFixed(3)}`);
  console.log(`| ${[setting.members, setting.episodes, setting.sigma, generations, ...cells].join(' | ')} |`);
  const total = means[0].mean + means[1].mean;
  if (!best || total > best.total) best = { total, setting, weights };
}
console.log(`\nThe best sum of both companies: ${JSON.stringify(best.setting)}`);
if (args.includes('--weights')) console.log(JSON.stringify(best.weights));
