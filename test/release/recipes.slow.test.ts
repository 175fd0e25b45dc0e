import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { PROGRAM, ROOT, runShell } from '../support/program-process.ts'

const RECIPES = join(ROOT, 'docs/recipes')
const recipes = readdirSync(RECIPES).map((language) => {
  const [file = ''] = readdirSync(join(RECIPES, language))
  return { language, file: join(RECIPES, language, file), text: readFileSync(join(RECIPES, language, file), 'utf8') }
})
const { version, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string
  repository: { url: string }
}
const [, slug = ''] = /github\.com\/(.+)\.git$/.exec(repository.url) ?? []
const IMAGE = `ghcr.io/${slug}:${version}`
const PORT = '4010'
const TOKEN = 'DMARC_UNDERSTUDY_ADMIN_TOKEN'
const CONTAINERFILE = join(ROOT, 'Containerfile')
const PYTHON = ['python3', '/usr/bin/python3'].find((python) => spawnSync(python, ['-c', 'import pytest']).status === 0)

/** Stands for the library: it starts the built program instead of a container, with what the recipe gives to that. */
const LIBRARIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  node: {
    'node_modules/testcontainers/package.json': '{"type": "module", "exports": "./index.js"}',
    'node_modules/testcontainers/index.js': `import { spawn } from 'node:child_process'
export const Wait = { forHttp: (path, port) => ({ path, port }) }
export class GenericContainer {
  constructor(image) { this.image = image }
  withExposedPorts(...ports) { return Object.assign(this, { ports }) }
  withEnvironment(environment) { return Object.assign(this, { environment }) }
  withWaitStrategy(wait) { return Object.assign(this, { wait }) }
  async start() {
    const { image, ports, environment, wait } = this
    console.log(JSON.stringify([image, ports, wait]))
    const args = ['serve', '--host', '0.0.0.0', '--port', '0', '--exit-with-parent', '--ready-file', 'ready.json']
    const server = spawn(process.execPath, [process.env.PROGRAM, ...args], { env: { ...process.env, ...environment } })
    const { existsSync, readFileSync } = await import('node:fs')
    while (!existsSync('ready.json')) await new Promise((next) => setTimeout(next, 20))
    const { port } = new URL(JSON.parse(readFileSync('ready.json')).base_url)
    if (!(await fetch('http://127.0.0.1:' + port + wait.path)).ok) throw new Error('It is not ready.')
    return { getHost: () => '127.0.0.1', getMappedPort: () => port, stop: async () => server.kill() }
  }
}\n`,
    'client.mjs': `import { startUnderstudy } from './understudy.ts'
const service = await startUnderstudy()
const ask = (path, init) => fetch(service.baseUrl + path, init)
const headers = { authorization: 'Bearer ' + (await service.createKey()), 'content-type': 'application/json' }
console.log((await ask('/domains', { headers })).status)
if (process.env.VIOLATE) await ask('/domains', { method: 'POST', headers, body: '{"domain": "shop.example"}' })
await service.stop()\n`,
  },
  python: {
    'testcontainers/core/__init__.py': '',
    'testcontainers/__init__.py': '',
    'testcontainers/core/wait_strategies.py': `class HttpWaitStrategy:
    def __init__(self, port, path):
        self.port, self.path = port, path\n`,
    'testcontainers/core/container.py': `import json, os, subprocess, time, urllib.request
class DockerContainer:
    def __init__(self, image):
        self.image, self.environment = image, dict(os.environ)
    def with_exposed_ports(self, *ports):
        self.ports = ports
        return self
    def with_env(self, name, value):
        self.environment[name] = value
        return self
    def waiting_for(self, wait):
        self.wait = wait
        return self
    def __enter__(self):
        print(json.dumps([self.image, self.ports, {"path": self.wait.path, "port": self.wait.port}]))
        options = ["--host", "0.0.0.0", "--port", "0", "--exit-with-parent", "--ready-file", "ready.json"]
        self.server = subprocess.Popen([os.environ["NODE"], os.environ["PROGRAM"], "serve", *options], env=self.environment, stdout=subprocess.DEVNULL)
        while not os.path.exists("ready.json"):
            time.sleep(0.02)
        with open("ready.json") as file:
            self.port = json.load(file)["base_url"].split(":")[2].split("/")[0]
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}{self.wait.path}")
        return self
    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
    def get_container_host_ip(self):
        return "127.0.0.1"
    def get_exposed_port(self, port):
        return self.port\n`,
    'test_client.py': `import os, urllib.error, urllib.request
def test_lists_domains(understudy, api_key):
    headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(understudy.base_url + "/domains", headers=headers)) as response:
        print(response.status)
    if os.environ.get("VIOLATE"):
        try:
            urllib.request.urlopen(urllib.request.Request(understudy.base_url + "/domains", b'{"domain": "a.example"}', headers))
        except urllib.error.HTTPError:
            pass\n`,
  },
}
const COMMANDS: Readonly<Record<string, string>> = {
  // A Node.js that cannot read TypeScript by itself needs no more than the types removed.
  node: `"$TSC" --ignoreConfig --noCheck --module nodenext --target es2023 --rewriteRelativeImportExtensions understudy.ts
sed -i s/understudy.ts/understudy.js/ client.mjs; exec "$NODE" client.mjs`,
  python: `exec ${PYTHON} -m pytest -s -q -p no:cacheprovider`,
}

/** Runs a recipe in a project whose library starts the built program. */
function runRecipe(language: string, folder: string, environment: Record<string, string> = {}) {
  for (const [path, text] of Object.entries(LIBRARIES[language] ?? {})) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  cpSync(join(RECIPES, language), folder, { recursive: true })
  const places = { PROGRAM, NODE: process.execPath, TSC: join(ROOT, 'node_modules/.bin/tsc'), no_proxy: '127.0.0.1' }
  return runShell(COMMANDS[language] ?? '', { folder, environment: { ...places, ...environment } })
}

describe('the recipes for containers', () => {
  it('are for four languages, and no longer than a screen', () => {
    expect(recipes.map(({ language }) => language).toSorted()).toEqual(['go', 'java', 'node', 'python'])
    for (const { file, text } of recipes) expect(text.split('\n').length, file).toBeLessThanOrEqual(70)
  })

  it('name the image of this version, its port, the variable of its token, and the address that says it is ready', () => {
    for (const { file, text } of recipes) {
      expect(text.match(/ghcr\.io[^"']*/g), file).toEqual([IMAGE])
      expect(new Set(text.match(/\b\d{4}\b/g)), file).toEqual(new Set([PORT]))
      expect(text.match(/DMARC_UNDERSTUDY_\w+/g), file).toEqual([TOKEN])
      expect(text, file).toContain('/__admin/ready')
    }
  })

  it('name what the Containerfile names, whose user has no rights', () => {
    const text = readFileSync(CONTAINERFILE, 'utf8')
    expect(/^EXPOSE (\d+)$/m.exec(text)?.[1]).toBe(PORT)
    // Because of this host, the program asks for the token.
    expect(text).toMatch(/^ENV DMARC_UNDERSTUDY_HOST=0\.0\.0\.0$/m)
    expect(text).toMatch(/^USER node\nVOLUME \/data$/m)
    expect(text).toMatch(/^CMD \["serve"/m)
  })

  it.for(Object.keys(LIBRARIES))('run in %s', async (language, { folder }) => {
    const { code, stdout, stderr } = await runRecipe(language, folder)
    expect(code, stdout + stderr).toBe(0)
    expect(JSON.parse(/^\[.*\]$/m.exec(stdout)?.[0] ?? '')).toEqual([
      ...[IMAGE, [Number(PORT)]],
      { path: '/__admin/ready', port: Number(PORT) },
    ])
    expect(stdout).toMatch(/^200$/m)
  })

  it.for(Object.keys(LIBRARIES))('fail in %s if a request violates the contract', async (language, { folder }) => {
    const { code, stdout, stderr } = await runRecipe(language, folder, { VIOLATE: '1' })
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain('violates the contract')
  })

  it.skipIf(spawnSync('gofmt', ['-h']).error)('are formatted in Go', () => {
    const { stdout, stderr } = spawnSync('gofmt', ['-e', '-l', join(RECIPES, 'go')], { encoding: 'utf8' })
    expect(stdout + stderr).toBe('')
  })

  it.skipIf(spawnSync('javac', ['-version']).error)(
    'compile in Java, against what they use of the library',
    ({ folder }) => {
      const wait = join(folder, 'org/testcontainers/containers/wait/strategy')
      mkdirSync(wait, { recursive: true })
      writeFileSync(
        join(wait, 'Wait.java'),
        `package org.testcontainers.containers.wait.strategy;
public class Wait { public static Wait forHttp(String path) { return null; } public Wait forPort(int port) { return this; } }`,
      )
      writeFileSync(
        join(folder, 'org/testcontainers/containers/GenericContainer.java'),
        `package org.testcontainers.containers;
import org.testcontainers.containers.wait.strategy.Wait;
public class GenericContainer<SELF extends GenericContainer<SELF>> {
  public GenericContainer(String image) {}
  public SELF withExposedPorts(Integer... ports) { return null; }
  public SELF withEnv(String name, String value) { return null; }
  public SELF waitingFor(Wait wait) { return null; }
  public String getHost() { return ""; }
  public Integer getMappedPort(int port) { return port; }
}`,
      )
      const args = ['-d', join(folder, 'out'), '-cp', folder, join(RECIPES, 'java/Understudy.java')]
      expect(spawnSync('javac', args, { encoding: 'utf8' }).stderr).toBe('')
    },
  )
})
