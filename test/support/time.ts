/** How long something takes, by the clock or by the processor, whichever is less: other threads use this process's time, and other programs take the clock's. */
export async function secondsOf(work: () => unknown): Promise<number> {
  const [begun, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return Math.min((performance.now() - begun) / 1e3, (user + system) / 1e6);
}
