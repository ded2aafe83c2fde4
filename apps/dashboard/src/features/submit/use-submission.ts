/** Edits, validates, stores and sends a submission. */
import { useMutation } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'

import { findFailureCode } from '../../api/failure.ts'
import { linkToRun } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { createRandomKey } from '../../lib/random-key.ts'
import { goTo } from '../../lib/router.ts'
import { toast } from '../../ui/feedback/toasts.tsx'
import { toDraftFromBody } from './read-draft.ts'
import {
  listRefusals,
  selectStanding,
  type Refusal,
  parseTypedBody,
  findSubmissionProblems,
} from './submission-problems.ts'
import { buildBody } from './submission.ts'
import { findInputNames } from './variables.ts'

import type { Capabilities, EnsembleInfo, SubmitRunBody } from '@tutti/protocol'
import type { Problem } from '@tutti/protocol/internal'

import type { SubmissionDraft } from './draft.ts'

/** Initial values of a submission. */
export interface Beginning {
  /** Run to copy. */
  readonly from: string | undefined
  readonly capabilities: Capabilities
  /** Draft to start with, unless one is stored. */
  readonly initial: SubmissionDraft
  /** Stored input of an earlier visit. */
  readonly stored: Submission | undefined
}

/** Manages a submission while it is edited. */
export function useSubmission({ from, capabilities, initial, stored }: Beginning) {
  const { ensembles } = capabilities
  const [submission, setSubmission] = useState<Submission>(stored ?? { draft: initial })
  const latest = useRef(submission)
  const [refusals, setRefusals] = useState<readonly Refusal[]>([])
  const [wasTried, setTried] = useState(false)
  const keep = (next: Submission): void => {
    latest.current = next
    setSubmission(next)
    storeSubmission(from, next)
  }
  const { draft, json } = submission
  const { body, own } = useMemo(() => {
    if (json === undefined) {
      const made = buildBody(draft, ensembles)
      return { body: made, own: findSubmissionProblems(draft, made, capabilities) }
    }
    const read = parseTypedBody(json)
    return read.ok ? { body: read.body, own: [] } : { body: undefined, own: read.problems }
  }, [draft, json, ensembles, capabilities])
  const problems: readonly Problem[] = useMemo(
    () => [...own, ...selectStanding(refusals, body)],
    [own, refusals, body],
  )
  const submit = useSubmit(from)
  return {
    draft,
    json,
    body,
    problems,
    wasTried,
    isTyped: draft !== initial || json !== undefined,
    isBusy: submit.isPending,
    failure: refusals.length > 0 ? null : submit.error,
    change: (next: (draft: SubmissionDraft) => SubmissionDraft) =>
      keep({ ...latest.current, draft: next(latest.current.draft) }),
    typeJson: (text: string) => keep({ ...latest.current, json: text }),
    /** Switches between the form and the JSON; false if the form cannot show the JSON. */
    showJson(isJson: boolean): boolean {
      if (isJson) {
        keep({ ...latest.current, json: JSON.stringify(body, undefined, 2) })
        return true
      }
      const read = parseTypedBody(json ?? '')
      const next = read.ok ? toDraftFromBody(read.body, ensembles) : undefined
      if (next === undefined) return false
      keep({ ...latest.current, draft: mergeTyped(next, draft, ensembles), json: undefined })
      return true
    },
    discard() {
      storeSubmission(from, undefined)
      latest.current = { draft: initial }
      setSubmission(latest.current)
      setRefusals([])
      setTried(false)
      submit.reset()
    },
    /**
     * Sends the body. Calls `onRefused` if it has problems, now or after the server rejected it.
     */
    send(onRefused: () => void) {
      setTried(true)
      if (own.length > 0) return onRefused()
      const key = chooseSubmissionKey(latest.current.sent, JSON.stringify(body))
      keep({ ...latest.current, sent: { key, body: JSON.stringify(body) } })
      // NOTE: a body without problems conforms to its type.
      const input = { body: body as SubmitRunBody, key }
      submit.mutate(input, {
        onError(error) {
          setRefusals(listRefusals(error, body))
          if (findFailureCode(error) === 'IDEMPOTENCY_CONFLICT') {
            keep({ ...latest.current, sent: undefined })
          }
          onRefused()
        },
      })
    },
  }
}

/** Sends a body, deletes the stored input and opens the run. */
function useSubmit(from: string | undefined) {
  const { client } = useServer()
  return useMutation({
    mutationFn: ({ body, key }: { readonly body: SubmitRunBody; readonly key: string }) =>
      client.runs.submit(body, { idempotencyKey: key }),
    onSuccess({ runId }) {
      storeSubmission(from, undefined)
      goTo(linkToRun(runId))
    },
  })
}

/**
 * Merges the draft of the JSON with the input for other ensembles and levels. Values that the JSON
 * omits but could contain are dropped.
 */
function mergeTyped(
  next: SubmissionDraft,
  before: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): SubmissionDraft {
  const { needed, perhaps } = findInputNames(next, ensembles)
  const others = Object.entries(before.inputs).filter(
    ([name]) => !needed.includes(name) && !perhaps.includes(name),
  )
  const isUnchanged = next.level === 'inputs' && before.level === 'overrides'
  const ensemble = next.ensemble ?? ensembles[0]?.name ?? ''
  return {
    ...next,
    level: isUnchanged ? 'overrides' : next.level,
    inputs: { ...Object.fromEntries(others), ...next.inputs },
    overrides: {
      ...before.overrides,
      ...(isUnchanged ? { [ensemble]: {} } : next.overrides),
    },
    tasks: next.level === 'tasks' ? next.tasks : before.tasks,
  }
}

/** Key in the session storage; its number changes with the format. */
const STORAGE_KEY = 'tutti.submission.3'

/** A submission while it is edited, and the idempotency key under which it was sent. */
interface Submission {
  readonly draft: SubmissionDraft
  /** The body as text while it is edited as JSON. */
  readonly json?: string | undefined
  /** Idempotency key of the last attempt, and its body. */
  readonly sent?: { readonly key: string; readonly body: string } | undefined
}

/** Reads the stored submission; `from` is the run that it copied. */
export function readStoredSubmission(from: string | undefined): Submission | undefined {
  const text = sessionStorage.getItem(toStorageKey(from))
  // NOTE: only `storeSubmission` writes this entry.
  return text === null ? undefined : (JSON.parse(text) as Submission)
}

/**
 * Stores a submission, or deletes it if undefined. Shows a message if it is too large to store.
 */
function storeSubmission(from: string | undefined, submission: Submission | undefined): void {
  const storageKey = toStorageKey(from)
  if (submission === undefined) sessionStorage.removeItem(storageKey)
  else {
    try {
      sessionStorage.setItem(storageKey, JSON.stringify(submission))
    } catch {
      toast('Your input is too large to store; it is lost when you leave this page', 'failed')
    }
  }
}

function toStorageKey(from: string | undefined): string {
  return from === undefined ? STORAGE_KEY : `${STORAGE_KEY}.${from}`
}

/** Returns the key of the last attempt if the body is the same, else a new key. */
export function chooseSubmissionKey(sent: Submission['sent'], body: string): string {
  return sent?.body === body ? sent.key : createRandomKey()
}
