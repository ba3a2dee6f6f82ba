package org.cloister.lab.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.ipsec.Certificate;
import org.cloister.ipsec.Credential;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Plan;
import org.cloister.lab.GuestJava;
import org.cloister.lab.ProjectKeys;
import org.cloister.lab.Vm;
import org.cloister.luks.secret.Secrets;
import org.cloister.vm.tunnel.LockedKey;
import org.cloister.vm.tunnel.Machine;

/** A folder of a guest with what its tunnels need: {@code NAME.crt} and {@code NAME.key} of machines, {@code ca0.crt} and so on. */
public record ProjectFolder(Path folder) {
    private static final int LONGEST_KEY = 4096;

    /**
     * Made in a guest, with new certificates.
     *
     * @param own a folder here, which has them too
     */
    public void put(Vm vm, ProjectKeys keys, List<Identity> identities, Path own) throws IOException {
        vm.succeed("mkdir", "-m", "700", folder.toString());
        for (Identity identity : identities) {
            Path certificate = own.resolve(identity.id() + ".crt");
            Path key = own.resolve(identity.id() + ".key");
            keys.write(identity, certificate, key);
            for (Path file : List.of(certificate, key)) {
                put(vm, file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        int number = 0;
        for (Certificate each : keys.authorities()) {
            put(vm, authority(number++), each.der());
        }
    }

    private void put(Vm vm, String name, byte[] content) throws IOException {
        GuestJava.put(vm, folder.resolve(name).toString(), content);
    }

    /** In the guest: without peers. The key is in locked memory for as long as this program lives, as in an agent. */
    Plan plan(Secrets secrets, Machine self) throws IOException {
        List<Certificate> authorities = new ArrayList<>();
        for (int i = 0; Files.exists(folder.resolve(authority(i))); i++) {
            authorities.add(Certificate.parse(Files.readAllBytes(folder.resolve(authority(i)))));
        }
        Certificate own = Certificate.parse(Files.readAllBytes(folder.resolve(self.name() + ".crt")));
        LockedKey key = new LockedKey(secrets.readFile(folder.resolve(self.name() + ".key"), LONGEST_KEY));
        return Plan.of(self.identity(), self.address(), new Credential(own, key), authorities, Esp.KERNEL);
    }

    private static String authority(int number) {
        return "ca" + number + ".crt";
    }
}
