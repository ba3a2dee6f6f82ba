/** The VM ledger, the VM reconciler and its loop. */
@NullMarked
package org.cloister.host.reconcile;

import org.jspecify.annotations.NullMarked;
