package org.cloister.lab.scenario;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A scenario whose result depends on the release of Debian: its lab's machines have the one that {@code lab/test} draws. What needs a
 * {@link SharedLocalSlurm} or a {@link CgroupSlurm} always has that one.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@interface DrawnRelease {}
