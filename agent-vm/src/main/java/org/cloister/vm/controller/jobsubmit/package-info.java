/** The plugin in slurmctld that lets jobs wait for their nodes and refuses what cannot be: its data and its installation. */
@NullMarked
package org.cloister.vm.controller.jobsubmit;

import org.jspecify.annotations.NullMarked;
