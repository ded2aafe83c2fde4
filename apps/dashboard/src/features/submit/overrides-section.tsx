/** The tasks of the ensemble, each with what changes in it for this run. */
import { Panel } from '../../ui/layout/panel.tsx'
import { chosenOverrides, withField, type OverrideDraft, type SubmissionDraft } from './draft.ts'
import { OverrideEditor } from './override-editor.tsx'

import type { Change } from './sections.ts'
import type { Capabilities, EnsembleInfo } from '@tutti/protocol'

/** The section. */
export function OverridesSection({
  draft,
  ensemble,
  capabilities,
  change,
}: {
  readonly draft: SubmissionDraft
  readonly ensemble: EnsembleInfo
  readonly capabilities: Capabilities
  readonly change: Change
}) {
  const overrides = chosenOverrides(draft, capabilities.ensembles)
  const known = ensemble.tasks.map(({ name }) => name)
  const others = Object.keys(overrides).filter((name) => !known.includes(name))
  const set = (name: string, override: OverrideDraft | undefined): void =>
    change((before) => ({
      ...before,
      overrides: {
        ...before.overrides,
        [ensemble.name]: withField(chosenOverrides(before, capabilities.ensembles), name, override),
      },
    }))
  return (
    <Panel title="Tasks" flush>
      <div data-pointer="/taskOverrides">
        {[...known, ...others].map((name) => (
          <OverrideEditor
            key={name}
            name={name}
            task={ensemble.tasks.find((task) => task.name === name)}
            override={overrides[name]}
            inputs={draft.inputs}
            capabilities={capabilities}
            onChange={(override) => set(name, override)}
          />
        ))}
      </div>
    </Panel>
  )
}
