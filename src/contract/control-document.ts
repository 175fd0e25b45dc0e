// Written by scripts/control-types.mjs from src/admin/openapi.yaml; run it after a change of that document.

export interface components {
  schemas: {
    Verdict: {
      /**
       * False when a request violates the contract, and when no request was checked. With a proxy, it is the result
       * that the command would end with now: `--fail-on` says whose mistakes count, and `--baseline` which do not.
       */
      passed: boolean
      /** The verdict in a sentence. */
      message: string
      /** How many requests came. */
      requests: number
      /**
       * How many requests were checked against the whole contract. A request that is refused because of its key,
       * plan or quota, or that a fault answers before it is read, is not.
       */
      judged: number
      /** How many requests were answered by a fault or a simulation. */
      injected: number
      violations: {
        count: number
        /** How many violations, by the error code of the refusal. */
        by_code: {
          [key: string]: number
        }
        /** The first ten violations. `/explain/{request-id}` has the details. */
        first: {
          request_id: string
          account: string | null
          operation: string | null
          method: string
          path: string
          status: number | null
          code: string | null
          /** What is wrong with the request. */
          message: string
          /** Curl commands, joined by `&&`. The last one sends the corrected request; those before it create what it needs. */
          correction: string | null
          page: components['schemas']['PageAddress']
        }[]
      }
      /**
       * Ways to use the service that its text asks clients to avoid. They do not change `passed`. Requests before
       * the reset after a 429; a retry within a second of real time after a 429 or a 5xx, unless the reset has
       * passed on the account's clock; GET /dmarc again within one daily refresh; and a write that is sent again
       * although its success was answered. A request that began before an answer came is no retry after that answer.
       */
      politeness: {
        kind: 'request-before-reset' | 'immediate-retry' | 'repeated-read' | 'repeated-write'
        message: string
        request_ids: string[]
      }[]
      /** Only with a proxy: the findings against the service, beside the `violations` of its clients. */
      service?: {
        /** How often the service did something wrong. */
        findings: number
        /** How many requests were passed on. */
        exchanges: number
        /** How many of them could not be judged, such as those to other paths. */
        not_judged: number
        first: {
          /** The same for the same difference in every run. */
          id: string
          /** What kind of finding it is. */
          label: string
          request_id: string | null
          method: string
          path: string
          status: number | null
          message: string
        }[]
      }
    }
    About: {
      /** The path of the service, with its version segment. */
      base_path: string
      /** The operations of the service. */
      operations: {
        id: string
        method: string
        /** Below the base path. */
        path: string
        /** The error codes that it can answer with. */
        codes: string[]
        /** How many domains a body can name; null where nothing limits it. */
        most_domains: number | null
      }[]
      /** The operations of this API that work here. A proxy only observes a service, and has few of them. */
      control: {
        id: string
        method: string
        path: string
      }[]
      /** From the lowest to the highest. */
      plans: string[]
      /** The ready-made fixtures. */
      fixtures: string[]
      /** The profiles of domains. */
      profiles: string[]
      policies: components['schemas']['PolicyName'][]
      /** The time of day of the daily refresh in UTC, such as 02:00. */
      refresh: string
      /** How many items a page of a list can have. */
      page_limit: number
      /** How long a search among the requests can be. */
      search: {
        characters: number
        words: number
      }
      /** What a fault rule can do, in words. */
      faults: {
        kinds: {
          name: string
          /** The field of a rule that asks for it. */
          field: 'delay_ms' | 'respond' | 'connection' | 'corrupt' | 'event'
          /** When it acts; `either` is as the rule says. */
          phase: 'before' | 'after' | 'either'
          /** What it does. */
          says: string
        }[]
        /** The meaning of other fields of a rule, by name. */
        fields: {
          [key: string]: string
        }
        phases: {
          before: string
          after: string
        }
      }
    }
    /** How many items the whole list has. */
    Count: number
    /** The `after` of the next page; null on the last page. */
    Next: string | null
    /** The `before` of the next page, which has older requests; null on the last page. */
    NextRequest: number | null
    /** an instant such as 2026-01-15T09:00:00Z */
    Instant: string
    /** an ISO 8601 duration such as PT1H, P1D or P2W */
    Duration: string
    /** All pseudo-random values of the account derive from it. */
    Seed: number
    /** One of the plans of the service. */
    Plan: string
    /** 1 to 200 visible ASCII characters */
    Secret: string
    /**
     * a name or an object
     * The name of a ready-made fixture, or a fixture as an object.
     */
    Fixture: string | Record<string, unknown>
    /** A fixture. The file `fixtures/fixture.schema.json` of the package describes every field. */
    FixtureDocument: Record<string, unknown>
    AccountToCreate: {
      /**
       * 1 to 100 letters, digits, dots, dashes, tildes or underscores, not beginning with a dot
       * By default an id that is not taken.
       */
      id?: string
      plan?: components['schemas']['Plan']
      fixture?: components['schemas']['Fixture']
      seed?: components['schemas']['Seed']
      now?: components['schemas']['Instant']
      /** Whether the clock stands still. */
      frozen?: boolean
      api_key?: components['schemas']['Secret']
    }
    Account: {
      id: string
      plan: string
      seed: components['schemas']['Seed']
      /** The name of the ready-made fixture that it was created from, if it was. */
      fixture: string | null
      created_at: components['schemas']['Instant']
      now: components['schemas']['Instant']
      frozen: boolean
      domains: number
      groups: number
      keys: number
      faults: number
      snapshots: number
    }
    Snapshot: {
      name: string
      taken_at: components['schemas']['Instant']
      domains: number
      groups: number
    }
    Key: {
      id: string
      label: string | null
      created_at: components['schemas']['Instant']
      disabled: boolean
      /** Whether the key is new and has the higher limits. */
      in_grace: boolean
    }
    Story: {
      title: string | null
      description: string | null
      /**
       * Each begins with the account as it was before the story. The file `fixtures/fixture.schema.json` of the
       * package describes every field.
       */
      scenes: {
        title: string
        /** The text that the presenter reads aloud, in paragraphs of one line each. */
        text: string
        /** What to open. */
        look_at?: {
          /** A tab of the dashboard. */
          tab: string
          /** A monitored domain. */
          domain?: string
          /** The name of a group. */
          group?: string
          /** What to search for. */
          search?: string
        }
        /** The calls that are sent when the scene begins, one after the other. */
        calls?: {
          /** An operationId of the service, or of this API about the account. */
          operation: string
          /** The parameters of the path, other than the account. */
          parameters?: {
            [key: string]: string
          }
          /** The parameters of the query. */
          query?: {
            [key: string]: string
          }
          /** The JSON body. */
          body?: Record<string, unknown>
          /** The code of the refusal that is expected; without it, success. */
          expect?: string
        }[]
      }[]
    }
    /** a day such as 2026-01-15 */
    Day: string
    Overview: {
      now: components['schemas']['Instant']
      /** The newest refresh. */
      refreshed_at: string
      /** The next refresh; null if it is after the year 9999. */
      next_refresh_at: string | null
      /** How many days the messages of a refresh are counted in. */
      period_days: number
      /** The messages of all domains at the newest refresh; null if there are no reports about any of them. */
      messages: number | null
      /** How many of them pass DMARC. */
      passing: number | null
      share: components['schemas']['ShareOfMail']
      domains: number
      /** How many domains have each policy in GET /dmarc. The record of a domain above counts where it applies. */
      policies: {
        reject: number
        quarantine: number
        none: number
        /** No record applies to it. */
        missing: number
      }
      /** How many domains only test their policy. */
      testing: number
      /**
       * The domains that need attention, the worst first, at most 20 of them: those without a DMARC record, and
       * those of whose messages 5 % or more fail. They are ordered by severity, and then by the messages that fail.
       */
      attention: {
        domain: string
        severity: 'high' | 'medium' | 'low'
        /** Why, in a sentence for a person. */
        reason: string
        /** The day on which it began; null if it was always so. */
        since: string | null
        /** Its messages that fail DMARC; null if receivers report nothing about it. */
        messages: number | null
      }[]
      /** How many domains need attention. */
      attention_count: number
      /** The refreshes, the oldest first. */
      days: {
        date: components['schemas']['Day']
        messages: number | null
        passing: number | null
        share: components['schemas']['ShareOfMail']
      }[]
      /** How many of the days asked for are not there. */
      days_omitted: number
    }
    /** The share of the messages that passes DMARC, in per cent; null where there are no messages. */
    ShareOfMail: number | null
    MonitoredDomain: {
      domain: string
      added_at: components['schemas']['Instant']
      /** Monitoring features that use it. */
      features: string[]
      profile: components['schemas']['Profile']
      /** The tags of the record that it publishes today, whether GET /dmarc shows them already or not; null if it has none. */
      policy: components['schemas']['PublishedTags'] | null
      /** The monitored domain whose record applies to it, because it has none. */
      inherits_from: string | null
      /** Messages that it sends in an ordinary month, whether receivers report them or not. */
      volume: number
      reports: components['schemas']['Reports']
      pinned: components['schemas']['PinnedFields']
      /** Since when they have these values; null if from the beginning, or if there are none. */
      pinned_at: string | null
      /** Its record in GET /dmarc, if it has one yet. */
      record: components['schemas']['DmarcRecord'] | null
      events: {
        /** Whether it is over or has not begun by the clock of the account. */
        state: 'past' | 'present' | 'planned'
        kind:
          | 'attack'
          | 'broken-dkim'
          | 'broken-spf'
          | 'new-sender'
          | 'signed-sender'
          | 'unauthenticated'
          | 'authentication'
          | 'unused'
          | 'growth'
          | 'policy'
          | 'addition'
          | 'fixed'
        /** The first day of it; null if it was always so. */
        from: string | null
        /** The day on which it is over; null if no end is known. */
        until: string | null
        /** One sentence for a person. */
        description: string
      }[]
    }
    /** The fields of its record that have fixed values. */
    PinnedFields: {
      p?: components['schemas']['PolicyName']
      sp?: components['schemas']['PolicyName']
      np?: components['schemas']['PolicyName']
      pct?: number
      testing?: 'y' | 'n'
      dmarc?: number
      dkim?: number
      spf?: number
      count?: number
    }
    /** A record of GET /dmarc. */
    DmarcRecord: {
      domain: string
      p: components['schemas']['ShownPolicy']
      sp?: components['schemas']['ShownPolicy']
      np?: components['schemas']['ShownPolicy']
      pct: number
      testing: 'y' | 'n'
      /** The share of the messages that pass DMARC. */
      dmarc: number
      dkim: number
      spf: number
      count: number
    }
    ShownPolicy: 'none' | 'quarantine' | 'reject' | ''
    /**
     * Whether receivers report about its mail: `received`; `awaited` until the first report; `none` if no DMARC record
     * applies, so that nobody knows what is sent in its name; `fixed` if figures of its record have fixed values.
     */
    Reports: 'received' | 'awaited' | 'none' | 'fixed'
    PublishedTags: {
      p: components['schemas']['PolicyName']
      sp?: components['schemas']['PolicyName']
      np?: components['schemas']['PolicyName']
      pct?: number
      testing?: 'y' | 'n'
    }
    Group: {
      id: string
      name: string
      /** Its members. */
      domains: string[]
    }
    Share: number
    /** The kind of domain for which its figures are made. */
    Profile:
      | 'enforced'
      | 'rolling-out'
      | 'monitoring-only'
      | 'forwarding-heavy'
      | 'broken-spf'
      | 'broken-dkim'
      | 'new-esp'
      | 'spoofed'
      | 'parked'
      | 'no-record'
      | 'new'
    PolicyName: 'none' | 'quarantine' | 'reject'
    Pin: {
      profile?: components['schemas']['Profile']
      p?: components['schemas']['PolicyName']
      sp?: components['schemas']['PolicyName']
      np?: components['schemas']['PolicyName']
      pct?: number
      testing?: 'y' | 'n'
      dmarc?: components['schemas']['Share']
      dkim?: components['schemas']['Share']
      spf?: components['schemas']['Share']
      count?: number
    }
    /**
     * Which requests it matches, on which of those it acts, and how. The first rule in order of creation that acts on
     * a request is the only one; rules after it do not count the request. Requests that are refused for their key,
     * plan or quota match no rule, and neither do requests with a Prefer header that is honoured.
     */
    FaultRule: {
      description?: string
      /** The rule matches a request that meets all conditions; without conditions, every request. */
      match?: {
        /** An operationId of the service. */
        operation?: string
        /** The method as sent. GET does not match HEAD; an operation matches both. */
        method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
        /** The path below the version segment, such as /domaingroups. */
        path?: string
        /** Id of a key. The key may be created later. */
        key?: string
      }
      /** How many matching requests pass before the rule acts. */
      skip?: number
      /** On how many requests the rule acts; on all by default. */
      times?: number
      /** The probability that the rule acts on a request. It is drawn from the seed, the account, the rule and the ordinal of the request. */
      probability?: number
      /** A rule that changes the response always has the phase `after`. */
      phase?: 'before' | 'after'
      /** Milliseconds before anything is sent. */
      delay_ms?: number
      /** Additional pseudo-random milliseconds, at most so many. */
      jitter_ms?: number
      respond?: {
        /** An error code of the service, with the response of the service. The rule acts only on operations that have this code. */
        error?: string
        /** Any response, such as that of a gateway, without the quota headers of the service. With `error`, one of the statuses of the code. */
        status?: number
        headers?: {
          [key: string]: string
        }
        /** A string is sent as text, anything else as JSON. `headers` can have another Content-Type. */
        body?: unknown
      }
      /** Requests that were pipelined on the connection are lost with it. */
      connection?: 'reset' | 'hang' | 'empty' | 'truncate' | 'drip'
      /**
       * How a genuine response is changed so that it violates the contract. A response that cannot be changed so is
       * sent as it is.
       */
      corrupt?:
        | 'malformed-json'
        | 'missing-field'
        | 'wrong-type'
        | 'extra-field'
        | 'unknown-enum'
        | 'bad-envelope'
      /**
       * An event of the account. `quota-used-up` changes the response. The others are changes that another client makes
       * just before the request is decided, as far as the service accepts them; the response is the service's own.
       */
      event?:
        | 'quota-used-up'
        | 'group-deleted'
        | 'domains-deleted'
        | 'member-added'
        | 'name-taken'
        | 'group-added'
      expires_after?: components['schemas']['Duration']
    }
    Fault: {
      id: string
      /** The fault set that it belongs to. */
      set?: string
      created_at: components['schemas']['Instant']
      phase: 'before' | 'after'
      /** How many requests the rule has matched. */
      matched: number
      /** On how many of these it acted. */
      hits: number
      state: 'active' | 'spent' | 'expired'
      rule: components['schemas']['FaultRule']
    }
    /** A request matches if it meets all conditions. */
    RequestMatch: {
      operation?: string
      method?: string
      /** The path below the version segment, such as /domaingroups. */
      path?: string
      /** Id of the key. */
      key?: string
      status?: number
      code?: string
      /** Whether the contract forbids the request in every state, or its response violates the contract. */
      violation?: boolean
      /** Whether the status of the response is 400 or more. */
      refused?: boolean
      /** Whether a fault or a simulation made the response. */
      injected?: boolean
      /** Id of the fault rule that acted on the request. */
      fault?: string
      /** Parameters that the query must have. */
      query?: {
        [key: string]: string
      }
      /** Header fields that the request must have. */
      headers?: {
        [key: string]: string
      }
      /** The content that the JSON body must have. Objects can have more fields, anything else must be equal. A body that the journal has cut off is a text. */
      body?: unknown
    }
    Message: {
      headers: {
        [key: string]: string
      }
      /** Null if no body was read. */
      body: string | null
      /** Bytes of the whole body, as sent or declared. */
      body_size: number
      /** Whether only the beginning of the body is shown. */
      truncated: boolean
    }
    JournalEntry: {
      ordinal: number
      request_id: string
      account: string | null
      /** Id of the key. */
      key: string | null
      at: components['schemas']['Instant']
      /** Empty, like the path, if the request was not HTTP. */
      method: string
      /** The path without the query. */
      path: string
      query: string
      operation: string | null
      /** Null if no response was sent. */
      status: number | null
      code: string | null
      /** Whether the response, or its absence, does not show how the service behaves. */
      injected: boolean
      fault: components['schemas']['Injection']
      /** The first problem was answered. If there are very many, not all are kept. */
      problems: components['schemas']['Problem'][]
      /** Whether the contract forbids the request in every state. The verdict counts these requests. */
      violates_contract: boolean
      /** Where the response violates the contract; with a proxy, what the judgement found wrong in the exchange, and who did it (`by`). */
      violations: components['schemas']['FoundViolation'][]
      quota: components['schemas']['Allowance']
      duration_ms: number
      request: components['schemas']['Message']
      response: components['schemas']['Message']
    }
    FoundViolation: {
      message: string
      by?: 'client' | 'service'
    }
    /** What acted on the request in place of the service. */
    Injection: {
      source: 'rule' | 'prefer' | 'simulator'
      id: string | null
      effect: string | null
      rule: components['schemas']['FaultRule']
    } | null
    /** What the response said of the quota. */
    Allowance: {
      limit: number
      remaining: number
      resets_at: components['schemas']['Instant']
    } | null
    Problem: {
      code: string
      /** JSON pointer into the body, or the name of a query parameter. */
      field: string | null
      message: string
      /** What the request has at this place, as JSON; of a long value, the beginning. `null` where it has nothing there. */
      received: string | null
    }
    Explanation: {
      request_id: string
      account: string | null
      operation: string | null
      status: number | null
      code: string | null
      /** What happened, in one or two sentences. */
      summary: string
      /** Whether the specification itself shows this response. */
      documented: boolean
      /** The assumptions behind this response, where the specification is silent. */
      assumptions: {
        id: string
        spec: string
      }[]
      /** The rules of the specification behind this response. */
      rules: {
        id: string
        says: string
      }[]
      /** The first problem was answered. */
      problems: components['schemas']['Problem'][]
      position: components['schemas']['JsonPosition']
      quota: components['schemas']['Allowance']
      clock: components['schemas']['Instant']
      fault: components['schemas']['Injection']
      /** The internal error, if there was one. */
      failure: string | null
      /** A request that the service accepts now, with as few changes as possible. */
      correction: {
        changes: string[]
        /** Commands that must be executed first. */
        before: string[]
        curl: string
        /** The request of `curl`, in a form that can be compared with the received one. */
        request: {
          method: string
          /** With the base path and the query. */
          path: string
          /** The text of the body; `null` without one. */
          body: string | null
        }
        /** The same requests in order, for a program. */
        requests: components['schemas']['PlannedRequest'][]
      } | null
      /**
       * What the request itself changed in its account, domains first. Empty where it changed nothing, as every
       * refused request. `null` where that is not known, see `changes_note`. The changes of other clients are not
       * among it, nor is what a fault rule did to the clock, see `fault`, or what was counted, see `quota`.
       */
      changes: components['schemas']['Change'][] | null
      /** How many changes there are, of which the first 100 are listed. */
      changes_count: number | null
      /** Why the changes are not known, in one sentence. */
      changes_note: string | null
      /** Code that sends the request again. `null` where that cannot be, see `reproduction_note`. */
      reproduction: {
        /**
         * The request as a command for a shell, with the key of the account where that is no secret, and else with
         * the variable API_KEY.
         */
        curl: string
        /**
         * A file for vitest that sets an account up as it was just before the request, sends the request, and expects
         * the same status and code. A large account is set up as a new one of its fixture.
         */
        vitest: string
      } | null
      /** Why there is no such code, or in what the code differs from the request. */
      reproduction_note: string | null
      page: components['schemas']['PageAddress']
      exchange: components['schemas']['JournalEntry']
    }
    /** The address of the request in the dashboard. `null` where the server has none, or ends with its command. */
    PageAddress: string | null
    /**
     * Where the body of the request stops being JSON that the service reads. `null` where it is JSON, and where the
     * journal keeps too little of it. Characters are counted as JavaScript counts them, in UTF-16.
     */
    JsonPosition: {
      line: number
      column: number
      /** How many characters come before the place. */
      offset: number
      /** What comes before it in its line, 24 characters at most. */
      before: string
      /** What stands there; empty at the end of the body. */
      at: string
      /** What comes after it in its line, 24 characters at most. */
      after: string
      /** What is wrong there, in one sentence. */
      says: string
    } | null
    /** Something in an account that a request has changed. */
    Change: {
      what: 'domain' | 'group'
      /** The domain, or the name of the group after the request; of a deleted group, its last one. */
      name: string
      /** A domain as a fixture has it, or a group with its id, name and number of members; `null` where it was not there. */
      before: Record<string, unknown> | null
      /** The same after the request; `null` where it is not there any more. */
      after: Record<string, unknown> | null
      /** Of a group, which members came and which went. At most ten of each are listed. */
      members: {
        added: string[]
        added_count: number
        removed: string[]
        removed_count: number
      } | null
    }
    PlannedRequest: {
      plane: 'service' | 'admin'
      method: string
      path: string
      key?: 'valid' | 'none'
      headers?: {
        [key: string]: string
      }
      body?: unknown
    }
    SeenShare: {
      seen: number
      total: number
      /** Rounded down, so that 100 means all. */
      percent: number
    }
    /** How to show what was not shown yet. */
    Gap: {
      /** The requests to send in this order, as shell commands. They contain the key of the account where it is no secret, and else take it from the variable API_KEY. */
      curl?: string[]
      /** Present if the last command is only a request to begin with: what to change. */
      hint?: string
    }
    ResponseCoverage: {
      status: number
      /** Absent for a success. */
      code?: string
      /** How often the service itself sent this response. */
      genuine: number
      /** How often a fault or a simulation sent it. */
      injected: number
      documented: boolean
    } & components['schemas']['Gap']
    Coverage: {
      summary: {
        operations: components['schemas']['SeenShare']
        responses: components['schemas']['SeenShare']
        rules: components['schemas']['SeenShare']
        edges: components['schemas']['SeenShare']
      }
      operations: {
        operation: string
        method: string
        path: string
        responses: components['schemas']['ResponseCoverage'][]
      }[]
      /** Responses to requests of no operation. */
      outside: components['schemas']['ResponseCoverage'][]
      rules: ({
        id: string
        /** Absent if the rule holds for several operations. */
        operation?: string
        says: string
        seen: boolean
      } & components['schemas']['Gap'])[]
      /** For each limit, the largest or smallest permitted value and the first one beyond it. */
      edges: ({
        id: string
        /** Absent if all operations of the path share the limit. */
        operation?: string
        path: string
        /** JSON pointer into the body, the name of a query parameter, or the name of anything else that is limited. */
        field: string
        limit: number
        side: 'at' | 'beyond'
        seen: boolean
      } & components['schemas']['Gap'])[]
      /** What no client can cause, and why. The shares do not count it. */
      apart: {
        kind: 'response' | 'rule'
        operation?: string
        status?: number
        code?: string
        id?: string
        says?: string
        why: string
      }[]
    }
    Failure: {
      success: false
      error: {
        code: string
        message: string
        problems: {
          code: string
          field: string | null
          message: string
        }[]
      }
    }
    Success: {
      success: true
      data: unknown
    }
  }
  responses: {
    /** A page for a browser. */
    Page: {
      content: {
        'text/html': string
      }
    }
    /** A page of the accounts. */
    Accounts: {
      content: {
        'application/json': {
          data?: {
            accounts: components['schemas']['Account'][]
            count: components['schemas']['Count']
            next: components['schemas']['Next']
          }
        } & components['schemas']['Success']
      }
    }
    /** A page of the snapshots, from the oldest to the newest. */
    Snapshots: {
      content: {
        'application/json': {
          data?: {
            snapshots: components['schemas']['Snapshot'][]
            count: components['schemas']['Count']
            next: components['schemas']['Next']
          }
        } & components['schemas']['Success']
      }
    }
    /** A page of the keys, without their secrets, in the order of their creation. */
    Keys: {
      content: {
        'application/json': {
          data?: {
            keys: components['schemas']['Key'][]
            count: components['schemas']['Count']
            next: components['schemas']['Next']
          }
        } & components['schemas']['Success']
      }
    }
    /** The verdict. */
    Verdict: {
      content: {
        'application/json': {
          data?: components['schemas']['Verdict']
        } & components['schemas']['Success']
      }
    }
    /** Server-sent events of type `request`, each with one entry of the journal. `Last-Event-ID` resumes a stream. */
    Events: {
      content: {
        'text/event-stream': string
      }
    }
    /** The operation was successful. */
    Done: {
      content: {
        'application/json': {
          data?: Record<string, unknown>
        } & components['schemas']['Success']
      }
    }
    /** The account. */
    Account: {
      content: {
        'application/json': {
          data?: {
            account: components['schemas']['Account']
          }
        } & components['schemas']['Success']
      }
    }
    /** The snapshot. */
    Snapshot: {
      content: {
        'application/json': {
          data?: {
            snapshot: components['schemas']['Snapshot']
          }
        } & components['schemas']['Success']
      }
    }
    /** The domain, with its current record in GET /dmarc if there is one. */
    Domain: {
      content: {
        'application/json': {
          data?: {
            domain: string
            features: string[]
            record: components['schemas']['DmarcRecord'] | null
          }
        } & components['schemas']['Success']
      }
    }
    /** A page of the domains. */
    Domains: {
      content: {
        'application/json': {
          data?: {
            domains: components['schemas']['MonitoredDomain'][]
            count: components['schemas']['Count']
            next: components['schemas']['Next']
          }
        } & components['schemas']['Success']
      }
    }
    /** The domains that were added or removed, and how many. */
    Names: {
      content: {
        'application/json': {
          data?: {
            domains: string[]
            count: components['schemas']['Count']
          }
        } & components['schemas']['Success']
      }
    }
    /** A page of the groups. */
    Groups: {
      content: {
        'application/json': {
          data?: {
            groups: components['schemas']['Group'][]
            count: components['schemas']['Count']
            next: components['schemas']['Next']
          }
        } & components['schemas']['Success']
      }
    }
    /** The group. */
    Group: {
      content: {
        'application/json': {
          data?: {
            group: components['schemas']['Group']
          }
        } & components['schemas']['Success']
      }
    }
    /** The time that the clock shows. */
    Clock: {
      content: {
        'application/json': {
          data?: {
            now: components['schemas']['Instant']
            frozen: boolean
          }
        } & components['schemas']['Success']
      }
    }
    /** Each quota of each key in its current window. */
    Quotas: {
      content: {
        'application/json': {
          data?: {
            /**
             * Whether the service refuses requests beyond a quota. It is false where the server was started with
             * `--no-quotas`; then they are only counted.
             */
            enforced: boolean
            quotas: {
              /** Null if the keys of an account share their quotas. */
              key: string | null
              bucket: string
              limit: number
              remaining: number
              resets_at: components['schemas']['Instant']
            }[]
          }
        } & components['schemas']['Success']
      }
    }
    /** The rules of the set, with their ids. */
    NewFaults: {
      content: {
        'application/json': {
          data?: {
            faults: components['schemas']['Fault'][]
          }
        } & components['schemas']['Success']
      }
    }
    /** A page of the rules, in order of creation, in which they are compared with a request. */
    Faults: {
      content: {
        'application/json': {
          data?: {
            faults: components['schemas']['Fault'][]
            count: components['schemas']['Count']
            next: components['schemas']['Next']
          }
        } & components['schemas']['Success']
      }
    }
    /** A page of the requests that match. */
    Requests: {
      content: {
        'application/json': {
          data?: {
            requests: components['schemas']['JournalEntry'][]
            count: components['schemas']['Count']
            next: components['schemas']['NextRequest']
          }
        } & components['schemas']['Success']
      }
    }
    /** The coverage. */
    Coverage: {
      content: {
        'application/json': {
          data?: components['schemas']['Coverage']
        } & components['schemas']['Success']
      }
    }
    /** The request is refused, or could not be answered. `x-errors` has the codes, each with its status and message. */
    Refusal: {
      content: {
        'application/json': components['schemas']['Failure']
      }
    }
    /** The server is running. */
    Health: {
      content: {
        'application/json': {
          data?: {
            status: 'ok'
            /** Names this run of the server. Another start has another one. */
            instance: string
          }
        } & components['schemas']['Success']
      }
    }
    /** The server is ready. */
    Readiness: {
      content: {
        'application/json': {
          data?: {
            status: 'ready'
            /** Names this run of the server. Another start has another one. */
            instance: string
            /** Where the accounts are. */
            store: 'memory' | 'folder' | 'redis'
            /** What the server is known to refuse now, such as changes while its disk is full. */
            limitation: string | null
          }
        } & components['schemas']['Success']
      }
    }
    /** The document, without the envelope. */
    Document: {
      content: {
        'application/json': {
          /** The version of OpenAPI. */
          openapi: string
          /** Title and version. */
          info: Record<string, unknown>
          /** The operations by path and method. */
          paths: Record<string, unknown>
        }
      }
    }
    /** What there is to choose from. */
    About: {
      content: {
        'application/json': {
          data?: components['schemas']['About']
        } & components['schemas']['Success']
      }
    }
    /** The account and its API key. The key is not shown again. */
    NewAccount: {
      content: {
        'application/json': {
          data?: {
            account: components['schemas']['Account']
            api_key: string
          }
        } & components['schemas']['Success']
      }
    }
    /** The account. */
    KeyedAccount: {
      content: {
        'application/json': {
          data?: {
            account: components['schemas']['Account']
            /**
             * A key of it that is no secret, because any program can compute it: the name of a sandbox, or, on a
             * loopback address, the key that derives from the seed. Null where there is none; only the hashes of
             * keys are kept.
             */
            api_key: string | null
          }
        } & components['schemas']['Success']
      }
    }
    /** The fixture. */
    Fixture: {
      content: {
        'application/json': {
          data?: components['schemas']['FixtureDocument']
        } & components['schemas']['Success']
      }
    }
    /** The story. An account without one has no scenes. */
    Story: {
      content: {
        'application/json': {
          data?: components['schemas']['Story']
        } & components['schemas']['Success']
      }
    }
    /** The key and its secret. The secret is not shown again. */
    NewKey: {
      content: {
        'application/json': {
          data?: {
            key: components['schemas']['Key']
            api_key: string
          }
        } & components['schemas']['Success']
      }
    }
    /** The key. */
    Key: {
      content: {
        'application/json': {
          data?: {
            key: components['schemas']['Key']
          }
        } & components['schemas']['Success']
      }
    }
    /** What the account looks like at its newest refresh. */
    Overview: {
      content: {
        'application/json': {
          data?: components['schemas']['Overview']
        } & components['schemas']['Success']
      }
    }
    /** The records of each day, in the order of the days. */
    Records: {
      content: {
        'application/json': {
          data?: {
            days: {
              date: components['schemas']['Day']
              /** The same bytes as the `data` of GET /dmarc; with `domain`, those of its domains. */
              records: components['schemas']['DmarcRecord'][]
            }[]
          }
        } & components['schemas']['Success']
      }
    }
    /** The ready-made sets, and those of `--faults`. */
    FaultSets: {
      content: {
        'application/json': {
          data?: {
            sets: {
              name: string
              description: string
              rules: components['schemas']['FaultRule'][]
            }[]
          }
        } & components['schemas']['Success']
      }
    }
    /** The rule. */
    Fault: {
      content: {
        'application/json': {
          data?: {
            fault: components['schemas']['Fault']
          }
        } & components['schemas']['Success']
      }
    }
    /** Whether it passed, how many requests matched, and which requests nearly did. */
    Count: {
      content: {
        'application/json': {
          data?: {
            passed: boolean
            /** Why it passed or failed, in a sentence. */
            message: string
            matched: number
            /** Id of the oldest request that matched. */
            first_match: string | null
            near_misses: {
              request_id: string
              method: string
              path: string
              differences: {
                field: string
                expected: unknown
                received: unknown
              }[]
            }[]
          }
        } & components['schemas']['Success']
      }
    }
    /** The explanation. */
    Explanation: {
      content: {
        'application/json': {
          data?: components['schemas']['Explanation']
        } & components['schemas']['Success']
      }
    }
  }
  parameters: {
    /** Id of the account; `default` always exists. */
    accountId: string
    /** Name of the snapshot. */
    snapshotName: string
    /** Id of the key. */
    keyId: string
    /** A monitored domain. */
    domainName: string
    /** Id of the group. */
    groupId: string
    /** Id of the rule. */
    faultId: string
    /** Name of the set. */
    setName: string
    /** An operationId of the service. */
    operation: string
    method: string
    /** The path below the version segment, such as /domaingroups. */
    path: string
    status: string
    /** An error code of the service. */
    code: string
    /** Whether the contract forbids the request in every state, or its response violates the contract. */
    violation: 'true' | 'false'
    /** Whether the status of the response is 400 or more. */
    refused: 'true' | 'false'
    /**
     * `none` for the requests of no account, which present no key of an account. Those of one account have a list of
     * their own.
     */
    ofNoAccount: 'none'
    /** Whether a fault or a simulation made the response. */
    injected: 'true' | 'false'
    /** Id of the fault rule that acted on the request. */
    faultOfRequest: string
    /**
     * Up to 10 words with spaces between them. Each must occur, in capital or small letters: in the method, the path
     * with its query, the status (also as `4xx`), the code, the operation, the request id, in the words `injected`,
     * `fault` or `violation`, or in the body of the request or the response as the list shows them.
     */
    search: string
    /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
    limit: string
    /** The page begins after the item that this names: the `next` of the page before, or the id of an item. */
    after: string
    /** The page has requests with a smaller ordinal than this one, the `next` of the page before. */
    before: string
    /** How many refreshes are reported, up to the newest. By default 90. */
    days: string
  }
}
export interface operations {
  getDashboard: {
    responses: {
      200: components['responses']['Page']
      default: components['responses']['Refusal']
    }
  }
  getHealth: {
    responses: {
      200: components['responses']['Health']
      default: components['responses']['Refusal']
    }
  }
  getReadiness: {
    responses: {
      200: components['responses']['Readiness']
      default: components['responses']['Refusal']
    }
  }
  getDocument: {
    responses: {
      200: components['responses']['Document']
      default: components['responses']['Refusal']
    }
  }
  getAbout: {
    responses: {
      200: components['responses']['About']
      default: components['responses']['Refusal']
    }
  }
  listAccounts: {
    parameters: {
      query?: {
        /** The page begins after the item that this names: the `next` of the page before, or the id of an item. */
        after?: components['parameters']['after']
        /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
        limit?: components['parameters']['limit']
      }
    }
    responses: {
      200: components['responses']['Accounts']
      default: components['responses']['Refusal']
    }
  }
  createAccount: {
    requestBody?: {
      content: {
        'application/json': components['schemas']['AccountToCreate']
      }
    }
    responses: {
      201: components['responses']['NewAccount']
      default: components['responses']['Refusal']
    }
  }
  getAccount: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['KeyedAccount']
      default: components['responses']['Refusal']
    }
  }
  deleteAccount: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Done']
      default: components['responses']['Refusal']
    }
  }
  updateAccount: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          plan: components['schemas']['Plan']
        }
      }
    }
    responses: {
      200: components['responses']['Account']
      default: components['responses']['Refusal']
    }
  }
  resetAccount: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody?: {
      content: {
        'application/json': {
          fixture?: components['schemas']['Fixture']
          seed?: components['schemas']['Seed']
          now?: components['schemas']['Instant']
          frozen?: boolean
        }
      }
    }
    responses: {
      200: components['responses']['Account']
      default: components['responses']['Refusal']
    }
  }
  exportState: {
    parameters: {
      query?: {
        /**
         * The X-Request-Id of a request of the account that is in the journal. If several have it because of a reset,
         * the newest.
         */
        before?: string
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Fixture']
      default: components['responses']['Refusal']
    }
  }
  importState: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['FixtureDocument']
      }
    }
    responses: {
      200: components['responses']['Account']
      default: components['responses']['Refusal']
    }
  }
  listScenes: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Story']
      default: components['responses']['Refusal']
    }
  }
  rewindAccount: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          /** The X-Request-Id of a request of the account. If several have it because of a reset, the newest. */
          request_id: string
        }
      }
    }
    responses: {
      200: components['responses']['Account']
      default: components['responses']['Refusal']
    }
  }
  listSnapshots: {
    parameters: {
      query?: {
        /** The page begins after the item that this names: the `next` of the page before, or the id of an item. */
        after?: components['parameters']['after']
        /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
        limit?: components['parameters']['limit']
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Snapshots']
      default: components['responses']['Refusal']
    }
  }
  takeSnapshot: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          /** 1 to 100 letters, digits, dots, dashes, tildes or underscores */
          name: string
          /** Whether it may replace a snapshot of the same name. */
          replace?: boolean
        }
      }
    }
    responses: {
      201: components['responses']['Snapshot']
      default: components['responses']['Refusal']
    }
  }
  deleteSnapshot: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Name of the snapshot. */
        snapshot: components['parameters']['snapshotName']
      }
    }
    responses: {
      200: components['responses']['Done']
      default: components['responses']['Refusal']
    }
  }
  restoreSnapshot: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Name of the snapshot. */
        snapshot: components['parameters']['snapshotName']
      }
    }
    responses: {
      200: components['responses']['Account']
      default: components['responses']['Refusal']
    }
  }
  listKeys: {
    parameters: {
      query?: {
        /** The page begins after the item that this names: the `next` of the page before, or the id of an item. */
        after?: components['parameters']['after']
        /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
        limit?: components['parameters']['limit']
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Keys']
      default: components['responses']['Refusal']
    }
  }
  createKey: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody?: {
      content: {
        'application/json': {
          label?: string
          key?: components['schemas']['Secret']
          created_at?: components['schemas']['Instant']
        }
      }
    }
    responses: {
      201: components['responses']['NewKey']
      default: components['responses']['Refusal']
    }
  }
  deleteKey: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Id of the key. */
        key: components['parameters']['keyId']
      }
    }
    responses: {
      200: components['responses']['Done']
      default: components['responses']['Refusal']
    }
  }
  updateKey: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Id of the key. */
        key: components['parameters']['keyId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          disabled: boolean
        }
      }
    }
    responses: {
      200: components['responses']['Key']
      default: components['responses']['Refusal']
    }
  }
  listMonitoredDomains: {
    parameters: {
      query?: {
        /** The page begins after the item that this names: the `next` of the page before, or the id of an item. */
        after?: components['parameters']['after']
        /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
        limit?: components['parameters']['limit']
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Domains']
      default: components['responses']['Refusal']
    }
  }
  addMonitoredDomains: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          /** A list of hostnames. */
          domains?: unknown
        }
      }
    }
    responses: {
      201: components['responses']['Names']
      default: components['responses']['Refusal']
    }
  }
  removeMonitoredDomains: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          /** A list of hostnames. */
          domains?: unknown
        }
      }
    }
    responses: {
      200: components['responses']['Names']
      default: components['responses']['Refusal']
    }
  }
  listGroups: {
    parameters: {
      query?: {
        /** The page begins after the item that this names: the `next` of the page before, or the id of an item. */
        after?: components['parameters']['after']
        /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
        limit?: components['parameters']['limit']
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Groups']
      default: components['responses']['Refusal']
    }
  }
  createGroup: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          /** The name of the group. */
          name?: unknown
          /** Its members; none by default. */
          domains?: unknown
        }
      }
    }
    responses: {
      201: components['responses']['Group']
      default: components['responses']['Refusal']
    }
  }
  deleteGroup: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Id of the group. */
        group: components['parameters']['groupId']
      }
    }
    responses: {
      200: components['responses']['Done']
      default: components['responses']['Refusal']
    }
  }
  updateGroup: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Id of the group. */
        group: components['parameters']['groupId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          /** The new name. */
          name?: unknown
          /** All members from now on. */
          domains?: unknown
          /** Members to add. */
          add_domains?: unknown
          /** Members to remove. */
          remove_domains?: unknown
        }
      }
    }
    responses: {
      200: components['responses']['Group']
      default: components['responses']['Refusal']
    }
  }
  getGroupOverview: {
    parameters: {
      query?: {
        /** How many refreshes are reported, up to the newest. By default 90. */
        days?: components['parameters']['days']
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Id of the group. */
        group: components['parameters']['groupId']
      }
    }
    responses: {
      200: components['responses']['Overview']
      default: components['responses']['Refusal']
    }
  }
  listDailyRecords: {
    parameters: {
      query: {
        /** The first day. */
        from: components['schemas']['Day']
        /** The last day. */
        to: components['schemas']['Day']
        /**
         * The domains whose records are wanted, with commas between them, at most as many as the setting
         * `named-domains`; by default all. The records have their order. A domain that is not monitored has no record.
         */
        domain?: string
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Records']
      default: components['responses']['Refusal']
    }
  }
  getOverview: {
    parameters: {
      query?: {
        /** How many refreshes are reported, up to the newest. By default 90. */
        days?: components['parameters']['days']
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Overview']
      default: components['responses']['Refusal']
    }
  }
  setFeatures: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** A monitored domain. */
        domain: components['parameters']['domainName']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          features: string[]
        }
      }
    }
    responses: {
      200: components['responses']['Domain']
      default: components['responses']['Refusal']
    }
  }
  pinDmarc: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** A monitored domain. */
        domain: components['parameters']['domainName']
      }
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['Pin']
      }
    }
    responses: {
      200: components['responses']['Domain']
      default: components['responses']['Refusal']
    }
  }
  unpinDmarc: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** A monitored domain. */
        domain: components['parameters']['domainName']
      }
    }
    responses: {
      200: components['responses']['Domain']
      default: components['responses']['Refusal']
    }
  }
  getClock: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Clock']
      default: components['responses']['Refusal']
    }
  }
  updateClock: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          now?: components['schemas']['Instant']
          advance?: components['schemas']['Duration']
          /**
           * The end of the first quota window in which a request was charged, the daily refresh, or the end of
           * the first grace period of a key.
           */
          to?: 'window-end' | 'refresh' | 'grace-end'
          frozen?: boolean
        }
      }
    }
    responses: {
      200: components['responses']['Clock']
      default: components['responses']['Refusal']
    }
  }
  getQuotas: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Quotas']
      default: components['responses']['Refusal']
    }
  }
  updateQuota: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          /** Id of the key. */
          key?: string
          /** The path that has the quota, without its first slash, such as `domains`. */
          bucket: string
          remaining: number
        }
      }
    }
    responses: {
      200: components['responses']['Quotas']
      default: components['responses']['Refusal']
    }
  }
  listFaultSets: {
    responses: {
      200: components['responses']['FaultSets']
      default: components['responses']['Refusal']
    }
  }
  addFaultSet: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Name of the set. */
        set: components['parameters']['setName']
      }
    }
    responses: {
      201: components['responses']['NewFaults']
      default: components['responses']['Refusal']
    }
  }
  listFaults: {
    parameters: {
      query?: {
        /** The page begins after the item that this names: the `next` of the page before, or the id of an item. */
        after?: components['parameters']['after']
        /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
        limit?: components['parameters']['limit']
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Faults']
      default: components['responses']['Refusal']
    }
  }
  addFault: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['FaultRule']
      }
    }
    responses: {
      201: components['responses']['Fault']
      default: components['responses']['Refusal']
    }
  }
  clearFaults: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Done']
      default: components['responses']['Refusal']
    }
  }
  deleteFault: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
        /** Id of the rule. */
        fault: components['parameters']['faultId']
      }
    }
    responses: {
      200: components['responses']['Done']
      default: components['responses']['Refusal']
    }
  }
  listAllRequests: {
    parameters: {
      query?: {
        /**
         * `none` for the requests of no account, which present no key of an account. Those of one account have a list of
         * their own.
         */
        account?: components['parameters']['ofNoAccount']
        /** An operationId of the service. */
        operation?: components['parameters']['operation']
        method?: components['parameters']['method']
        /** The path below the version segment, such as /domaingroups. */
        path?: components['parameters']['path']
        status?: components['parameters']['status']
        /** An error code of the service. */
        code?: components['parameters']['code']
        /** Whether the contract forbids the request in every state, or its response violates the contract. */
        violation?: components['parameters']['violation']
        /** Whether the status of the response is 400 or more. */
        refused?: components['parameters']['refused']
        /** Whether a fault or a simulation made the response. */
        injected?: components['parameters']['injected']
        /** Id of the fault rule that acted on the request. */
        fault?: components['parameters']['faultOfRequest']
        /**
         * Up to 10 words with spaces between them. Each must occur, in capital or small letters: in the method, the path
         * with its query, the status (also as `4xx`), the code, the operation, the request id, in the words `injected`,
         * `fault` or `violation`, or in the body of the request or the response as the list shows them.
         */
        search?: components['parameters']['search']
        /** The page has requests with a smaller ordinal than this one, the `next` of the page before. */
        before?: components['parameters']['before']
        /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
        limit?: components['parameters']['limit']
      }
    }
    responses: {
      200: components['responses']['Requests']
      default: components['responses']['Refusal']
    }
  }
  listRequests: {
    parameters: {
      query?: {
        /** An operationId of the service. */
        operation?: components['parameters']['operation']
        method?: components['parameters']['method']
        /** The path below the version segment, such as /domaingroups. */
        path?: components['parameters']['path']
        status?: components['parameters']['status']
        /** An error code of the service. */
        code?: components['parameters']['code']
        /** Whether the contract forbids the request in every state, or its response violates the contract. */
        violation?: components['parameters']['violation']
        /** Whether the status of the response is 400 or more. */
        refused?: components['parameters']['refused']
        /** Whether a fault or a simulation made the response. */
        injected?: components['parameters']['injected']
        /** Id of the fault rule that acted on the request. */
        fault?: components['parameters']['faultOfRequest']
        /**
         * Up to 10 words with spaces between them. Each must occur, in capital or small letters: in the method, the path
         * with its query, the status (also as `4xx`), the code, the operation, the request id, in the words `injected`,
         * `fault` or `violation`, or in the body of the request or the response as the list shows them.
         */
        search?: components['parameters']['search']
        /** The page has requests with a smaller ordinal than this one, the `next` of the page before. */
        before?: components['parameters']['before']
        /** How many items the page has at most. The settings `page-default` and `page-limit` hold. */
        limit?: components['parameters']['limit']
      }
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Requests']
      default: components['responses']['Refusal']
    }
  }
  clearRequests: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Done']
      default: components['responses']['Refusal']
    }
  }
  verifyRequests: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    requestBody: {
      content: {
        'application/json': {
          match: components['schemas']['RequestMatch']
          count?: number
          at_least?: number
          at_most?: number
        }
      }
    }
    responses: {
      200: components['responses']['Count']
      default: components['responses']['Refusal']
    }
  }
  getOverallCoverage: {
    responses: {
      200: components['responses']['Coverage']
      default: components['responses']['Refusal']
    }
  }
  getCoverage: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Coverage']
      default: components['responses']['Refusal']
    }
  }
  getVerdict: {
    responses: {
      200: components['responses']['Verdict']
      default: components['responses']['Refusal']
    }
  }
  clearVerdict: {
    responses: {
      200: components['responses']['Done']
      default: components['responses']['Refusal']
    }
  }
  explainRequest: {
    parameters: {
      path: {
        /** The X-Request-Id of the response. */
        'request-id': string
      }
    }
    responses: {
      200: components['responses']['Explanation']
      default: components['responses']['Refusal']
    }
  }
  streamAllEvents: {
    responses: {
      200: components['responses']['Events']
      default: components['responses']['Refusal']
    }
  }
  streamEvents: {
    parameters: {
      path: {
        /** Id of the account; `default` always exists. */
        account: components['parameters']['accountId']
      }
    }
    responses: {
      200: components['responses']['Events']
      default: components['responses']['Refusal']
    }
  }
}
