// The stages of a request's path, by the functions of the program that begin them, and why each costs what it costs.

/** What the engine does not see of the processor time of a server. */
export const ELSEWHERE = 'system: wait and read'

/** Functions without a file: the engine's own. */
const ENGINE = [
  [/^\((idle|program|root)\)$/, ELSEWHERE],
  [/^\(garbage collector\)$/, 'collect garbage'],
  [/^write(v|Latin1String|Utf8String|Buffer)$/, 'system: write'],
]

/**
 * `begins` are the functions of the service that begin a stage; a stage ends where another one begins. `why` says what the
 * time above bare node:http is for.
 */
export const STAGES = [
  {
    name: ELSEWHERE,
    why: 'Node.js and the system, as without the service; and the threads that help to collect garbage.',
  },
  {
    name: 'system: write',
    why: 'One call for each answer. A short answer is one text, for which Node.js needs no list of pieces.',
  },
  {
    name: 'collect garbage',
    why: 'An entry of the journal lives for a thousand requests, so the engine moves it twice before it is dropped; and a POST leaves a group behind. `--journal 100` costs less.',
  },
  { name: 'Node: parse', why: 'The same parser and the same objects as without the service.' },
  { name: 'Node: after the answer', why: 'A body is not read as a stream, so there is less to end.' },
  {
    name: 'connection',
    begins: /^(listener|queue|handleAll|finish|detachSocket|push)$/,
    why: 'No request overtakes an earlier one of its connection, and a client that sends thousands at once has to wait.',
  },
  { name: 'route', begins: /^route$/, why: 'The Host is checked against DNS rebinding; path and query are looked up.' },
  {
    name: 'gate',
    begins: /^admit$/,
    why: 'Key, plan, quota and fault rules, in one step; the counters before the request are kept, so that the journal can explain it.',
  },
  {
    name: 'check',
    begins: /^(readAndCheck|injectBefore|simulate)$/,
    why: 'Bytes to JSON, and the contract: query, schema of the body, and what no schema can say of a name.',
  },
  {
    name: 'decide and keep',
    begins: /^decideAndKeep$/,
    why: 'A change makes a new state and keeps the old one; the limits of memory are counted.',
  },
  {
    name: 'make the answer',
    begins: /^(succeed|succeedCached|refuseWith|replyTo)$/,
    why: 'JSON is written and checked against the contract. A long answer is kept with the state that it shows.',
  },
  {
    name: 'header',
    begins: /^(conclude|injectAfter|responseTo)$/,
    why: 'Request id, date and quota, as text and as a list for the journal.',
  },
  {
    name: 'record',
    begins: /^record$/,
    why: 'The entry of the journal, the coverage of the contract, the verdict and the manners of the client.',
  },
  {
    name: 'send',
    begins: /^(postTogether|post|sendAll|send|answer)$/,
    why: 'The response object of Node.js. All answers of one pass are sent together, so that a client is woken once.',
  },
  { name: 'the rest', why: 'Calls between the stages.' },
]

/** A bundler gives two functions of one name a number or a sign. */
const plainName = (name) => name.replace(/^(get|async) /, '').replace(/(\$\d+|\d+)$/, '')

/** The stage of a sample, from the function that ran and those that called it. */
export function stageOf(node) {
  const { functionName, url } = node.callFrame
  const own = url === '' && ENGINE.find(([pattern]) => pattern.test(functionName))
  if (own) return own[1]
  for (let each = node; each !== undefined; each = each.parent) {
    const { functionName: name, url: from } = each.callFrame
    const isService = /\/dist\//.test(from)
    const stage = isService && STAGES.find(({ begins }) => begins?.test(plainName(name)))
    if (stage) return stage.name
    // The handler of bare node:http does nothing but answer.
    if (/\/bench\/servers\//.test(from)) return 'send'
    if (/^parserOn/.test(name)) return 'Node: parse'
    if (/^(processTicksAndRejections|emitCloseNT)$/.test(name)) return 'Node: after the answer'
  }
  return 'the rest'
}

/** The microseconds of each stage in the service (`own`) and in bare node:http (`bare`). */
export function compareStages({ ours, http }) {
  return STAGES.map(({ name, why }) => ({ name, why, own: ours.stages[name] ?? 0, bare: http.stages[name] ?? 0 }))
}
