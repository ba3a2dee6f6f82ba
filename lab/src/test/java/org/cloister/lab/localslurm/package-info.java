@NullMarked
package org.cloister.lab.localslurm;

import org.jspecify.annotations.NullMarked;
