/** Review settings of an operator, for all runs. */
import { ensemble, type Ensemble, type ReviewDefaults } from '@tutti/ensemble'

/** Defaults for the reviews of all ensembles. */
export interface ReviewRules extends ReviewDefaults {
  /**
   * Whether a request may remove or relax reviews that the operator requires: those of a task, of a policy, and
   * their time, role and action on timeout. @default false: such a request is refused
   */
  readonly allowOverride?: boolean
}

/** The same ensemble, with the rules where it has no defaults of its own. */
export function withReviewRules(
  template: Ensemble,
  { allowOverride: _, ...defaults }: ReviewRules,
): Ensemble {
  if (Object.keys(defaults).length === 0) return template
  return ensemble({ ...template, review: { ...defaults, ...template.review } })
}
