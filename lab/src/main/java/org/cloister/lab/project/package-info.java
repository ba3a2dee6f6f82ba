/** People's devices and a project with real VMs. */
@NullMarked
package org.cloister.lab.project;

import org.jspecify.annotations.NullMarked;
