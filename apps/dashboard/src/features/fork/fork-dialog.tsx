/** The dialog that forks a run from a task or from one of its model calls. Loaded when first needed. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'

import { findFailureCode } from '../../api/failure.ts'
import { linkToRun } from '../../api/links.ts'
import { readFormValue, RequestDialog } from '../../api/request-dialog.tsx'
import { useServer } from '../../api/server.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { createRandomKey } from '../../lib/random-key.ts'
import { goTo } from '../../lib/router.ts'
import { useSettled } from '../../lib/use-settled.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Checkbox } from '../../ui/controls/inputs.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { FieldAt } from '../../ui/schema-form/field-view.tsx'
import { createFormDraft } from '../../ui/schema-form/form-draft.ts'
import { toChildPointer } from '../../ui/schema-form/pointer.ts'
import {
  buildForkBody,
  changesPrompt,
  createForkForm,
  findForkEdits,
  findForkPrompt,
  findSeqBeforeTurn,
  FORK_FORM,
  listForkAliases,
  type ForkForm,
  type ForkOrigin,
  type ForkStart,
} from './fork-form.ts'
import { ForkPreviewView } from './fork-preview.tsx'
import styles from './fork-dialog.module.css'

import type { ForkBody } from '@tutti/client/internal'
import type { LoggedRunEvent, RunState } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'

/** Time after the last key press after which the preview is read again, in milliseconds. */
const PREVIEW_AFTER_MS = 400

interface ForkDialogProps {
  readonly runId: string
  readonly state: RunState
  readonly events: readonly LoggedRunEvent[]
  readonly start: ForkStart
  readonly onClose: () => void
}

/** The dialog; it opens the fork when it has started. */
export function ForkDialog({ runId, state, events, start, onClose }: ForkDialogProps) {
  // Edits refer to the run as it was when the dialog opened.
  const [opened] = useState(() => ({
    state,
    beforeTurn: findSeqBeforeTurn(events, start),
    task: state.tasks.find(({ name }) => name === start.taskName),
  }))
  const { client } = useServer()
  const origin = useForkOrigin(start, opened)
  const [edits, setEdits] = useState<Partial<ForkForm>>({})
  const [isRefused, setRefused] = useState(false)
  const form = { ...createForkForm(origin), ...edits }
  const body = buildForkBody(form, origin)
  const preview = useForkPreview(runId, body)
  const change = (changed: Partial<ForkForm>): void => setEdits({ ...edits, ...changed })
  const needsConsent = preview.data?.needsAllowSideEffects === true || isRefused
  const inputs = Object.keys(origin.inputs)
  const delegator = opened.task?.delegatedBy?.taskName
  const send = async (): Promise<void> => {
    try {
      const fork = await client.runs.fork(runId, body, { idempotencyKey: createRandomKey() })
      toast('Fork started')
      goTo(linkToRun(fork.runId))
    } catch (error) {
      setRefused(findFailureCode(error) === 'SIDE_EFFECTS')
      throw error
    }
  }
  return (
    <RequestDialog
      wide
      title={start.turn === undefined ? `Fork from "${start.taskName}"` : 'Fork from here'}
      submit="Start fork"
      sending="Starting…"
      failure="The fork was not started"
      isBlocked={needsConsent && !form.allowSideEffects}
      schema={FORK_FORM}
      fields={['/prompt', '/directive', ...inputs.map((name) => toChildPointer('/inputs', name))]}
      aliases={listForkAliases(start.taskName)}
      state={[createFormDraft(form), (next) => change(findForkEdits(form, readFormValue(next)))]}
      check={() => ({ ok: true, send })}
      onClose={onClose}
    >
      <p role="status" className={styles['place']}>
        {describeStart(form, origin)}
      </p>
      <FieldAt
        path="/prompt"
        rows={3}
        isReadOnly={delegator !== undefined}
        hint={describePrompt(origin, delegator)}
        aside={
          changesPrompt(form, origin) && (
            <Button size="s" kind="quiet" onClick={() => change({ prompt: origin.prompt.text })}>
              Undo changes
            </Button>
          )
        }
      />
      <FieldAt
        path="/directive"
        label="Guidance"
        hint="A directive for the agent of this task. It sees it at its next model call."
        rows={3}
        hasFocus
      />
      <InputFields names={inputs} />
      {(needsConsent || form.allowSideEffects) && (
        <Checkbox
          checked={form.allowSideEffects}
          onChange={({ target }) => change({ allowSideEffects: target.checked })}
        >
          Allow tools that are not idempotent to be called again
        </Checkbox>
      )}
      <ForkPreviewView {...preview} />
    </RequestDialog>
  )
}

/** The run as it was when the dialog opened. */
interface OpenedRun {
  readonly state: RunState
  readonly beforeTurn: number | undefined
  readonly task: TaskState | undefined
}

/** Returns the values of the form before any edit. */
function useForkOrigin(start: ForkStart, { state, beforeTurn, task }: OpenedRun): ForkOrigin {
  const { data: capabilities } = useCapabilities()
  const { ensemble, inputs } = state
  const template = capabilities?.ensembles
    .find(({ name }) => name === ensemble)
    ?.tasks.find(({ name }) => name === start.taskName)?.description
  return useMemo(
    () => ({
      start,
      prompt: findForkPrompt(task ?? { description: '' }, template, inputs),
      inputs,
      beforeTurn,
    }),
    [start, task, template, inputs, beforeTurn],
  )
}

/** Reads what the fork would do, after each change of the request. */
function useForkPreview(runId: string, body: ForkBody) {
  const { client } = useServer()
  // The body is a new object in every render; its text is not.
  const text = useSettled(JSON.stringify(body), PREVIEW_AFTER_MS)
  const { data, error, isFetching } = useQuery({
    queryKey: ['fork preview', runId, text],
    // NOTE: the text is the JSON of a body.
    queryFn: ({ signal }) =>
      client.runs.previewFork(runId, JSON.parse(text) as ForkBody, { signal }),
    placeholderData: (before) => before,
    staleTime: 0,
  })
  return { data, error, isStale: isFetching || text !== JSON.stringify(body) }
}

function describeStart(form: ForkForm, origin: ForkOrigin): string {
  const { taskName, turn } = origin.start
  if (changesPrompt(form, origin)) {
    return `The fork begins at the start of "${taskName}", because its prompt was changed. Earlier results are reused.`
  }
  if (turn === undefined || origin.beforeTurn === undefined) {
    return `The fork begins at the start of "${taskName}". Earlier results are reused.`
  }
  return `The fork begins with model call ${turn.iterationIndex + 1} of "${taskName}". Everything before it is reused.`
}

function describePrompt({ prompt }: ForkOrigin, delegator: string | undefined): string {
  if (delegator !== undefined) {
    return `"${delegator}" wrote this prompt, so it cannot be changed here.`
  }
  return prompt.isTemplate
    ? 'The description of the task. Names in braces stand for inputs.'
    : 'The description of the task.'
}

function InputFields({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <fieldset className={styles['inputs']}>
      <legend>Inputs</legend>
      <p className={styles['soft']}>
        Changed inputs take effect in the prompts of tasks that start in the fork.
      </p>
      {names.map((name) => (
        <FieldAt key={name} path={toChildPointer('/inputs', name)} label={name} rows={1} />
      ))}
    </fieldset>
  )
}
