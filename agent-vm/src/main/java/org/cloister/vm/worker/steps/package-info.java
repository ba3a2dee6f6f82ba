/** The setup steps that turn a worker VM into a Slurm node. */
@NullMarked
package org.cloister.vm.worker.steps;

import org.jspecify.annotations.NullMarked;
