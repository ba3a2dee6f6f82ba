/** The worker state machine. */
@NullMarked
package org.cloister.vm.worker.state;

import org.jspecify.annotations.NullMarked;
