// What users wait for, in sentences for docs/speed.md.
import { figure } from './table.mjs'

/** A sentence for each part that was measured. */
export function describeWaits({ suites, run, trials, kept, large, judging }) {
  const of = (command) => judging.find((row) => row.command === command)
  return [
    suites &&
      `A test that makes a group and reads it takes ${costOf(suites[0])} with \`createTest\` and a fresh account, and ${costOf(suites[1])} with a bare Express server that all tests share.`,
    run && `A command that does nothing takes ${costOf(run.alone)} by itself, and ${costOf(run.within)} by \`run\`.`,
    trials &&
      `One after the other, ${trials.rows.map((row) => `\`${row.command}\` makes ${figure(60_000 / row.milliseconds)}`).join(' and ')} trials per minute of a client that takes ${costOf(trials.client)} by itself.`,
    judging &&
      `For 1,000 exchanges, \`check\` takes ${figure(of('check').perThousand)} ms of processor time and \`calibrate\` ${figure(of('calibrate').perThousand)} ms, after a start of ${figure(1000 * of('check').start)} ms and ${figure(1000 * of('calibrate').start)} ms. \`verify\` of our own server takes ${figure(of('verify').seconds)} s.`,
    kept &&
      `With ${figure(kept[1].accounts)} accounts in the folder of \`--data\`, the first answer comes after ${costOf(kept[1])} and the service has ${figure(kept[1].mebibytes)} MiB; with one account, after ${costOf(kept[0])} and with ${figure(kept[0].mebibytes)} MiB.`,
    large &&
      `Asked about a large account: ${large.map((row) => `${row.question}: ${costOf(row)}, while another client waits ${figure(row.longestWait)} ms`).join('; ')}.`,
  ].filter((sentence) => sentence !== undefined)
}

function costOf({ milliseconds, cpuMilliseconds }) {
  return `${figure(milliseconds)} ms (${figure(cpuMilliseconds)} ms of processor time)`
}
