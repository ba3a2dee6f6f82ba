/** The Local Slurm's daemons: slurmctld, slurmdbd, their configuration and units. */
@NullMarked
package org.cloister.vm.controller.daemons;

import org.jspecify.annotations.NullMarked;
