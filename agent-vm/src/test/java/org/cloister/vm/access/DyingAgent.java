package org.cloister.vm.access;

import java.nio.file.Path;
import org.cloister.protocol.identity.Role;

/** A process with a desk and a session in it, to be killed. */
final class DyingAgent {
    private DyingAgent() {}

    public static void main(String[] args) throws Exception {
        AccessWorld world = new AccessWorld(Path.of(args[0]));
        world.new Person("ada7", Role.MEMBER).calls(Role.MEMBER).ssh("echo $$ > shell; exec sleep 7776");
    }
}
