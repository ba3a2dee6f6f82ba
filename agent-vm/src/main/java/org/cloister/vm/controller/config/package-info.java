/** The daemon of a project's VMs. As controller it drives the project's Local Slurm and has worker VMs asked for. */
@NullMarked
package org.cloister.vm.controller.config;

import org.jspecify.annotations.NullMarked;
