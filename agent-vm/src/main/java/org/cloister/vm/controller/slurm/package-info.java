/** The Local Slurm's commands, jobs, nodes and slurm.conf. */
@NullMarked
package org.cloister.vm.controller.slurm;

import org.jspecify.annotations.NullMarked;
