/** That the model was switched before the turn that follows. */
import { ArrowLeftRight } from 'lucide-react'

import styles from './switch-row.module.css'

/** From which model to which. */
export function SwitchRow({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <p className={styles['switch']}>
      <ArrowLeftRight aria-hidden />
      Model switched: {from} → {to}
    </p>
  )
}
