/** Messages between a VM and its verifier: assignment, hand-over, unlock and readmission. */
@NullMarked
package org.cloister.protocol.handover;

import org.jspecify.annotations.NullMarked;
