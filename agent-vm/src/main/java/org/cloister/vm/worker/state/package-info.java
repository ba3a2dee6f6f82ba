/** A worker's life: shows what it is, takes what it is handed over, becomes a node of its job, and leaves nothing. */
@NullMarked
package org.cloister.vm.worker.state;

import org.jspecify.annotations.NullMarked;
