/** The daemons of a project's Local Slurm in its controlling VM: their files, and the order in which they run. */
@NullMarked
package org.cloister.vm.controller.daemons;

import org.jspecify.annotations.NullMarked;
