# %% [markdown]
# # Audit your own frame
#
# You have a frame of people, one row each, and want to publish something that was computed from it: a table of counts, or frequent itemsets.
# What does it reveal about individuals? Open this file as a notebook (VS Code, Jupyter with jupytext), or run it as a script.

# %%
import pandas as pd

import tacit

patients = pd.read_csv("examples/patients.csv")
patients.head()

# %% [markdown]
# ## A table of counts
#
# Give the table as it is: `value_counts()`, `groupby(..).size()`, `pd.crosstab(..)`. No group of fewer than `k` people may be computed.

# %%
table = pd.crosstab(patients["age"], patients["diagnosis"], margins=True)
table

# %%
audit = tacit.audit(table, qi="age", sa="diagnosis", k=10)
audit

# %% [markdown]
# The card counts, and describes nobody: notebooks are shared. Who the groups are stands in the findings, worst first.

# %%
audit.to_frame(top=5)

# %%
audit.plot()

# %% [markdown]
# ## Frequent itemsets
#
# A one-hot frame, as for mlxtend: a column is an item, which people have or not. Each count is of 24 people at least, and nevertheless:

# %%
itemsets = tacit.mine_itemsets(pd.get_dummies(patients), min_support="10%")
audit = tacit.audit(itemsets, data=patients, k=10)
audit

# %%
worst = audit.findings[0]
print(worst.statement)
print(*worst.steps, sep="\n")

# %% [markdown]
# ## The cheapest repair that is clean
#
# Every repair that fits is carried out and audited again; the one that loses least is returned.

# %%
repair = audit.repair(seconds=60)
repair

# %%
repair.plot()

# %%
tacit.write_release(repair.release, "safer.csv")
audit.report("audit.html")
repair.after.report("certificate.html", kind="external")

# %% [markdown]
# In a script that publishes by itself, stop where the result is not clean. `tacit.Exposed` says why.

# %%
repair.after.assert_clean()
