/** Runs one command of the built program after another in one process, for what goes on after a strike: to start a program for each would take most of the time. */
import { pathToFileURL } from 'node:url';

const program = import(pathToFileURL(process.argv[2]).href);
let said = '';
process.stdout.write = () => true;
process.stderr.write = (text) => {
  said += text;
  return true;
};
process.on('message', async (args) => {
  const { main } = await program;
  said = '';
  process.exitCode = 0;
  await main(args);
  process.send({ status: process.exitCode, said });
  process.exitCode = 0;
});
