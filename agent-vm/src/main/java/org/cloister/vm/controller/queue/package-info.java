/** The Local Slurm's queue becomes tickets, and nodes that come become running jobs. */
@NullMarked
package org.cloister.vm.controller.queue;

import org.jspecify.annotations.NullMarked;
