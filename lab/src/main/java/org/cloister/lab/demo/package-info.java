/** The demonstration and its result page. */
@NullMarked
package org.cloister.lab.demo;

import org.jspecify.annotations.NullMarked;
