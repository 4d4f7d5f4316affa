"""A service on YARN by Skein: skein_job.py WORK. Its containers make WORK/begun-NAME and end once WORK/gate is there."""
import sys
import time

import skein

work = sys.argv[1]
service = skein.Service(instances=2, resources=skein.Resources(memory="256 MiB", vcores=1),
                        script=f"touch {work}/begun-$SKEIN_CONTAINER_ID; until [ -e {work}/gate ]; do sleep 0.1; done")
specification = skein.ApplicationSpec(name="services", queue="root.alpha", services={"worker": service},
                                      master=skein.Master(resources=skein.Resources(memory="512 MiB", vcores=1)))
with skein.Client(log=f"{work}/driver.log") as client:
    application = client.submit_and_connect(specification)
    application.scale("worker", 3)
    while client.application_report(application.id).final_status == "undefined":
        time.sleep(0.2)
    print(client.application_report(application.id).final_status)
