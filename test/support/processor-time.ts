/**
 * Milliseconds for which this process has had a processor until now. What something costs is the difference of two such
 * times: unlike the time of day, it is the same on a machine that has other things to do.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
