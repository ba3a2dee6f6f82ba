/** The main job, from sbatch to its output, and what shows that it was as claimed. */
@NullMarked
package org.cloister.lab.demo;

import org.jspecify.annotations.NullMarked;
