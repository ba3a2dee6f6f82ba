/** How an answer is printed: a table for people, JSON and YAML for programs, with the same content. */
@NullMarked
package org.cloister.ctl.output;

import org.jspecify.annotations.NullMarked;
