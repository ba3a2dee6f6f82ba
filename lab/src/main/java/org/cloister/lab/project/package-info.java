/** A project at a site of the lab, as its people have it: their devices, its controlling VM and its jobs. */
@NullMarked
package org.cloister.lab.project;

import org.jspecify.annotations.NullMarked;
