// The GitHub Action. The runner starts this file with a Node.js of its own: as `main` in the place of the step, and as `post`
// when the job ends. Without commands, `main` leaves a `keeper` behind. The keeper is `dmarc-understudy run` with a command that
// waits for the end of the job, so that both ways are judged, reported and annotated by the same code.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const NAME = 'dmarc-understudy'
const SELF = import.meta.filename
const { env } = process
/** What `run` tells its command, and its name among the outputs. */
const FACTS = { UNDERSTUDY_BASE_URL: 'base-url', UNDERSTUDY_API_KEY: 'api-key', UNDERSTUDY_ADMIN_URL: 'admin-url' }
/** How often to look for a file, and for how long, in milliseconds. */
const [LOOK, LONGEST] = [50, 60_000]

const [role] = process.argv.slice(2)
const ROLES = { 'keep-the-service': keepService, 'until-the-job-ends': untilJobEnds }
await (ROLES[role] ?? (env.STATE_isPost ? judge : main))()

async function main() {
  writeFact('GITHUB_STATE', 'isPost', 'true')
  const temporary = env.RUNNER_TEMP || refuse('RUNNER_TEMP is not set')
  if (!isFolder(temporary)) refuse(`RUNNER_TEMP ${temporary}: there is no such folder`)
  const folder = fs.mkdtempSync(join(temporary, 'understudy-'))
  const directory = resolve(env.GITHUB_WORKSPACE ?? '.', input('working-directory'))
  if (!isFolder(directory)) refuse(`working-directory ${directory}: there is no such folder`)
  process.chdir(directory)
  const options = readOptions()
  maskSecrets(options)
  const command = [...findProgram(folder), 'run', ...options, '--']
  await (input('run') === '' ? startService(command, folder) : runCommands(command, folder))
}

/** Runs the commands as the runner does for a step with `shell: bash`. */
async function runCommands(command, folder) {
  // Bash reads this file before the commands. It hides the key in the log, and shows that the commands have begun.
  const [first, begun] = [join(folder, 'first.sh'), join(folder, 'begun')]
  const outer = env.BASH_ENV ? `export BASH_ENV=${quote(env.BASH_ENV)}; . "$BASH_ENV"` : 'unset BASH_ENV'
  fs.writeFileSync(first, `echo "::add-mask::$UNDERSTUDY_API_KEY"; : > ${quote(begun)}\n${outer}\n`)
  const shell = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', env.INPUT_RUN]
  const code = await runProgram([...command, ...shell], {
    stdio: 'inherit',
    env: { ...innerEnvironment(), BASH_ENV: first },
  })
  // Once they have begun, the report of `run` says what failed. Options such as --help leave them out, and succeed.
  if (!fs.existsSync(begun)) refuse('the commands could not start; the lines above say why', code || 2)
  process.exitCode = code
}

/** Starts the service and tells the later steps where it is. */
async function startService(command, folder) {
  const log = fs.openSync(join(folder, 'log'), 'a')
  const keeper = spawn(process.execPath, [SELF, 'keep-the-service', folder, ...command], {
    stdio: ['ignore', log, log],
    detached: true,
    // The runner reads the summary of this step now, but the verdict comes when the job ends.
    env: { ...innerEnvironment(), GITHUB_STEP_SUMMARY: join(folder, 'summary') },
  })
  if (!(await appears(folder, ['service', 'ended'], keeper.pid)) || fs.existsSync(join(folder, 'ended'))) {
    say(read(folder, 'log'))
    refuse('the service could not start; the lines above say why', Number(read(folder, 'ended')) || 1)
  }
  const facts = JSON.parse(read(folder, 'service'))
  for (const [variable, output] of Object.entries(FACTS)) {
    if (variable === 'UNDERSTUDY_API_KEY') mask(facts[variable])
    writeFact('GITHUB_OUTPUT', output, facts[variable] ?? '')
    if (facts[variable] !== undefined) writeFact('GITHUB_ENV', variable, facts[variable])
  }
  writeFact('GITHUB_STATE', 'folder', folder)
  writeFact('GITHUB_STATE', 'keeper', keeper.pid)
  say(`${NAME} serves at ${facts.UNDERSTUDY_BASE_URL}. The verdict is judged when the job ends.`)
  keeper.unref()
}

/** The keeper: stays when the step is over, and writes down how the program ended. */
async function keepService() {
  const [folder, ...command] = process.argv.slice(3)
  const waiting = [process.execPath, SELF, 'until-the-job-ends']
  const code = await runProgram([...command, ...waiting], {
    stdio: 'inherit',
    env: { ...env, UNDERSTUDY_FOLDER: folder },
  })
  write(folder, 'ended', String(code))
}

/** The command of the service: it has what `run` tells a command, and ends with the job. */
async function untilJobEnds() {
  const folder = env.UNDERSTUDY_FOLDER
  write(folder, 'service', JSON.stringify(Object.fromEntries(Object.keys(FACTS).map((name) => [name, env[name]]))))
  // Without the folder, the job is over as well: its runner was killed, and has tidied up since.
  while (fs.existsSync(folder) && !fs.existsSync(join(folder, 'over'))) await pause(LOOK)
}

/** When the job ends: ends the service, and fails as `run` does. */
async function judge() {
  const { STATE_folder: folder, STATE_keeper: keeper } = env
  if (!folder) return
  if (!isFolder(folder))
    refuse('there is no verdict, because the folder of the service was removed while the job ran', 1)
  write(folder, 'over', '')
  const hasEnded = await appears(folder, ['ended'], Number(keeper))
  say(read(folder, 'log'))
  if (!hasEnded) refuse('there is no verdict, because the service was killed while the job ran, or does not end', 1)
  if (env.GITHUB_STEP_SUMMARY) fs.appendFileSync(env.GITHUB_STEP_SUMMARY, read(folder, 'summary'))
  process.exitCode = Number(read(folder, 'ended'))
}

function readOptions() {
  const reports = input('report')
    .split('\n')
    .map((line) => line.trim())
  const named = ['fixture', 'fail-on', 'min-coverage'].map((name) => [name, input(name)])
  const given = [...named, ...reports.map((report) => ['report', report])].filter(([, value]) => value !== '')
  const words = splitWords(input('options'))
  // What follows it would run in the place of the commands.
  if (words.includes('--'))
    refuse(`options ${words.join(' ')}: -- is for a command; give the commands as the input run`)
  return [...words, ...given.map(([name, value]) => `--${name}=${value}`)]
}

/** The words as a shell splits them, without expansion. */
function splitWords(text) {
  const words = []
  let isInWord = false
  const pieces = text.matchAll(/(\s+)|'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^\s'"\\]+)|./gs)
  for (const [piece, space, single, double, escaped, plain] of pieces) {
    const part = single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain
    if (space === undefined && part === undefined) refuse(`options ${text}: a ${piece} has no end`)
    if (part !== undefined) words.push(isInWord ? words.pop() + part : part)
    isInWord = part !== undefined
  }
  return words
}

/** The program and its first arguments. */
function findProgram(folder) {
  const [file, version] = [input('package'), input('version')]
  if (file !== '' && version !== '') refuse('give package or version, not both')
  if (file !== '') return programOf(resolve(file), folder)
  if (!/^[\w.^~+-]*$/.test(version)) refuse(`version ${version}: is no version, such as 1.2.3`)
  const installed = version === '' ? findInstalled() : undefined
  if (installed !== undefined) return commandOf(installed)
  return install(`${NAME}@${version.replace(/^v/, '') || manifestOf(join(dirname(SELF), '..')).version}`, folder)
}

function programOf(file, folder) {
  const found = fs.statSync(file, { throwIfNoEntry: false })
  if (found === undefined) refuse(`package ${file}: there is no such file`)
  if (found.isDirectory()) return commandOf(file)
  if (!file.endsWith('.tgz'))
    refuse(`package ${file}: must be a tarball (.tgz) of the npm package, or a folder with it`)
  return install(file, folder)
}

function findInstalled() {
  try {
    return dirname(createRequire(resolve('project.js')).resolve(`${NAME}/package.json`))
  } catch {
    return undefined
  }
}

function commandOf(folder) {
  const { name, bin } = manifestOf(folder)
  if (name !== NAME || typeof bin?.[NAME] !== 'string') refuse(`package ${folder}: is not the package ${NAME}`)
  return [process.execPath, join(folder, bin[NAME])]
}

function manifestOf(folder) {
  try {
    return JSON.parse(fs.readFileSync(join(folder, 'package.json'), 'utf8')) ?? {}
  } catch {
    return {}
  }
}

function isFolder(path) {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Installs the package where it cannot affect the project. */
function install(spec, folder) {
  const isWindows = process.platform === 'win32'
  fs.writeFileSync(join(folder, 'package.json'), '{}')
  say(`::group::Install ${spec}`)
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', isWindows ? `"${spec}"` : spec]
  // On Windows, npm is a batch file, which only a shell can start.
  const { error, status, stderr } = spawnSync('npm', args, {
    cwd: folder,
    shell: isWindows,
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  })
  say(`${stderr ?? ''}\n::endgroup::`)
  if (error?.code === 'ENOENT') {
    refuse('there is no npm; let actions/setup-node run before')
  }
  if (/\b(ETARGET|E404)\b/.test(stderr)) refuse(`npm has no ${spec}`)
  if (status !== 0) refuse(`npm could not install ${spec}; its messages are in the log`, 3)
  return commandOf(join(folder, 'node_modules', NAME))
}

/** Runs a program to its end, and resolves to its exit code. */
function runProgram([program, ...args], options) {
  return new Promise((end) => {
    const child = spawn(program, args, options)
    // A runner that cancels the job tells only this process.
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
    child.once('error', ({ code }) => {
      say(`${NAME}: ${program} cannot be run (${code})`)
      end(code === 'ENOENT' ? 127 : 126)
    })
    child.once('exit', (code, signal) => end(code ?? 128 + constants.signals[signal]))
  })
}

/** Whether one of the files appears, before the process is gone or it has taken too long. */
async function appears(folder, names, pid) {
  const isThere = () => names.some((name) => fs.existsSync(join(folder, name)))
  for (let waited = 0; waited < LONGEST && isAlive(pid); waited += LOOK) {
    if (isThere()) return true
    await pause(LOOK)
  }
  return isThere()
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** What a step with `run` would have: without the inputs, and without the tokens that only actions get. */
function innerEnvironment() {
  const hidden = /^(INPUT|STATE)_|^ACTIONS_(RUNTIME|RESULTS|CACHE)_/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.test(name)))
}

function maskSecrets(options) {
  for (const [index, word] of options.entries()) {
    const [found, equals, value] = /^--(?:api-key|admin-token)(=(.*))?$/s.exec(word) ?? []
    if (found !== undefined) mask(equals === undefined ? options[index + 1] : value)
  }
  for (const name of ['API_KEY', 'ADMIN_TOKEN']) mask(env[`DMARC_UNDERSTUDY_${name}`])
}

function mask(secret) {
  if (secret) say(`::add-mask::${escapeData(secret)}`)
}

/** Prints all of it before the process can end, also to a pipe. */
function say(text) {
  fs.writeFileSync(1, `${text}\n`)
}

function input(name) {
  return (env[`INPUT_${name.toUpperCase()}`] ?? '').trim()
}

/** Ends with an annotation. */
function refuse(message, code = 2) {
  say(`::error title=${NAME}::${escapeData(message)}`)
  process.exit(code)
}

function escapeData(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function quote(text) {
  return `'${text.replaceAll('\\', '/').replaceAll("'", "'\\''")}'`
}

/** Hands a value on by one of the files of the runner. */
function writeFact(file, name, value) {
  fs.appendFileSync(env[file] || refuse(`${file} is not set; this is a step of GitHub Actions`), `${name}=${value}\n`)
}

function read(folder, name) {
  const file = join(folder, name)
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
}

/** Writes a file that nobody sees half. */
function write(folder, name, text) {
  fs.writeFileSync(join(folder, `${name}.new`), text)
  fs.renameSync(join(folder, `${name}.new`), join(folder, name))
}
