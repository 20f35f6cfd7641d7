/** The process of process.ts: the program, loaded once, runs one command after the other and says how each ended. */
const { main } = await import(process.argv[2]);
process.on('message', async ({ folder, args }) => {
  process.chdir(folder);
  process.exitCode = undefined;
  await main(args);
  // Every call listens anew.
  for (const name of ['stdout', 'stderr']) process[name].removeAllListeners('error');
  process.send(process.exitCode ?? 0);
  process.exitCode = undefined;
});
