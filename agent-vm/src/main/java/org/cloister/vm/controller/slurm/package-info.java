/** The project's Local Slurm as the controlling VM uses it: jobs, nodes, and the few changes that are made to them. */
@NullMarked
package org.cloister.vm.controller.slurm;

import org.jspecify.annotations.NullMarked;
