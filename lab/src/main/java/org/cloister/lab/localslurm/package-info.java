/** A project's Local Slurm in the lab, with namespaces for VMs, and a plain Slurm of the same shape to compare it with. */
@NullMarked
package org.cloister.lab.localslurm;

import org.jspecify.annotations.NullMarked;
