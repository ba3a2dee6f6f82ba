/** What drives a queue's controller without Slurm and without workers: small ones in memory, and one that breaks calls. */
@NullMarked
package org.cloister.vm.controller.queue;

import org.jspecify.annotations.NullMarked;
