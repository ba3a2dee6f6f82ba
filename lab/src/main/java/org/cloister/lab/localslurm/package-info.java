/** A Local Slurm whose workers are namespaces, and a plain Slurm for comparison. */
@NullMarked
package org.cloister.lab.localslurm;

import org.jspecify.annotations.NullMarked;
